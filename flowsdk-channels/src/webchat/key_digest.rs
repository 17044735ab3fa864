//! Session keys that are checked without bcrypt.
//!
//! A bcrypt protects what people choose. A session key is made by the server, of 48 random characters, about 247 bits:
//! nobody finds it from a digest, however fast that is computed. So a server that has just started lets all its visitors in
//! again within seconds.

use secrecy::{ExposeSecret as _, SecretString};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use flowsdk_core::id::IdentityId;

/// Fewest characters of a key that is as random as its digest needs. Shorter ones are checked by bcrypt alone.
const SHORTEST: usize = 40;

/// Returns the stored digest of the session key of an identity; `None` for a key that is too short for it.
pub fn key_digest(identity: &IdentityId, key: &SecretString) -> Option<String> {
    let key = key.expose_secret();
    if key.len() < SHORTEST {
        return None;
    }
    let mut digest = Sha256::new();
    // Of the identity too, so that no digest counts in another row.
    digest.update(b"flowsdk session key\0");
    digest.update(identity.as_str().as_bytes());
    digest.update(b"\0");
    digest.update(key.as_bytes());
    Some(hex::encode(digest.finalize()))
}

/// Returns whether `key` has the stored digest.
pub(super) fn has_digest(identity: &IdentityId, key: &SecretString, stored: Option<&str>) -> bool {
    let (Some(stored), Some(digest)) = (stored, key_digest(identity, key)) else {
        return false;
    };
    bool::from(stored.as_bytes().ct_eq(digest.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "kz1a2b3c4d5e6f7g8h9i0j1kkz1a2b3c4d5e6f7g8h9i0j1k";

    #[test]
    fn a_digest_is_of_one_key_and_one_identity() {
        let id = |text: &str| IdentityId::parse(text).expect("an id");
        let (one, two) = (id("cmwox00000000000000000one"), id("cmwox00000000000000000two"));
        let key = SecretString::from(KEY);
        let digest = key_digest(&one, &key).expect("long enough");
        assert_eq!(digest.len(), 64);
        assert!(has_digest(&one, &key, Some(&digest)));
        assert!(!has_digest(&two, &key, Some(&digest)));
        assert!(!has_digest(&one, &key, None));
        let other = SecretString::from(KEY.replace('z', "y"));
        assert!(!has_digest(&one, &other, Some(&digest)));
        assert_eq!(key_digest(&one, &SecretString::from("short")), None);
    }
}
