//! AES-256-CBC with a random 16-byte IV per encryption, stored as `<iv_hex>:<ciphertext_hex>`
//! (spec A 2.9). The format has no room for a MAC, so every damage is one and the same error.

use std::fmt;

use aes::cipher::block_padding::Pkcs7;
use aes::cipher::{BlockModeDecrypt as _, BlockModeEncrypt as _, KeyIvInit as _};
use hmac::{Hmac, KeyInit as _, Mac as _};
use rand::RngExt as _;
use secrecy::{ExposeSecret as _, SecretString};
use sha2::Sha256;
use zeroize::{Zeroize as _, Zeroizing};

type Encryptor = cbc::Encryptor<aes::Aes256>;
type Decryptor = cbc::Decryptor<aes::Aes256>;

/// Bytes of the key; `CRYPTO_SECRET` has exactly as many.
const KEY_BYTES: usize = 32;

/// `CRYPTO_SECRET` is not exactly 32 bytes (32 characters of ASCII) long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be exactly 32 characters (bytes), found {found}")]
pub struct InvalidKey {
    /// The number of bytes found.
    pub found: usize,
}

/// A ciphertext that no known key opens: damaged, or written under another key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("ciphertext cannot be opened")]
pub struct CipherError;

/// A value as it stands in the database: `<iv_hex>:<ciphertext_hex>`.
#[derive(Clone, PartialEq, Eq)]
pub struct Encrypted(String);

impl Encrypted {
    /// Returns a value read from storage. Its form is checked when it is opened.
    pub fn from_stored(text: String) -> Self {
        Self(text)
    }

    /// Returns the text that storage keeps.
    pub fn as_stored(&self) -> &str {
        &self.0
    }
}

impl crate::cell::TextCell for Encrypted {
    fn as_text(&self) -> &str {
        &self.0
    }

    fn from_text(text: &str) -> Result<Self, crate::fault::BoxError> {
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Debug for Encrypted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Encrypted(..)")
    }
}

/// The master key, with the keys it replaced (rulings A9): encryption uses the first, reading tries all.
pub struct MasterKey {
    keys: Vec<Zeroizing<[u8; KEY_BYTES]>>,
}

impl fmt::Debug for MasterKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MasterKey(..)")
    }
}

impl MasterKey {
    /// Returns the key of `CRYPTO_SECRET`.
    pub fn new(secret: &str) -> Result<Self, InvalidKey> {
        Ok(Self { keys: vec![parse(secret)?] })
    }

    /// Returns a new key, for a store in which nothing is encrypted.
    pub fn random() -> Self {
        Self { keys: vec![Zeroizing::new(rand::rng().random())] }
    }

    /// Adds the value of `CRYPTO_SECRET_PREVIOUS`, with which older values can still be read.
    pub fn with_previous(mut self, secret: &str) -> Result<Self, InvalidKey> {
        self.keys.push(parse(secret)?);
        Ok(self)
    }

    /// Encrypts `clear` under a fresh IV.
    pub fn encrypt(&self, clear: &str) -> Encrypted {
        let iv: [u8; 16] = rand::rng().random();
        let cipher =
            Encryptor::new((&*self.keys[0]).into(), &iv.into()).encrypt_padded_vec::<Pkcs7>(clear.as_bytes());
        Encrypted(format!("{}:{}", hex::encode(iv), hex::encode(cipher)))
    }

    /// Returns a key for one purpose, which tells nothing of this one. A rotation changes it.
    pub fn derive(&self, purpose: &str) -> Zeroizing<[u8; KEY_BYTES]> {
        #[allow(clippy::expect_used, reason = "HMAC takes keys of any length")]
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.keys[0][..]).expect("a key");
        mac.update(purpose.as_bytes());
        Zeroizing::new(mac.finalize().into_bytes().into())
    }

    /// Opens `value` with the present key or one it replaced.
    pub fn decrypt(&self, value: &Encrypted) -> Result<SecretString, CipherError> {
        let (iv, cipher) = value.0.split_once(':').ok_or(CipherError)?;
        let iv: [u8; 16] = hex::decode(iv).ok().and_then(|b| b.try_into().ok()).ok_or(CipherError)?;
        let cipher = hex::decode(cipher).map_err(|_| CipherError)?;
        self.keys.iter().find_map(|key| open(key, &iv, &cipher)).ok_or(CipherError)
    }

    /// `value` under the present key; `None` where that opens it already.
    pub fn renew(&self, value: &Encrypted) -> Result<Option<Encrypted>, CipherError> {
        let present = Self { keys: vec![self.keys[0].clone()] };
        if present.decrypt(value).is_ok() {
            return Ok(None);
        }
        self.decrypt(value).map(|clear| Some(self.encrypt(clear.expose_secret())))
    }
}

fn parse(secret: &str) -> Result<Zeroizing<[u8; KEY_BYTES]>, InvalidKey> {
    let bytes: [u8; KEY_BYTES] =
        secret.as_bytes().try_into().map_err(|_| InvalidKey { found: secret.len() })?;
    Ok(Zeroizing::new(bytes))
}

fn open(key: &[u8; KEY_BYTES], iv: &[u8; 16], cipher: &[u8]) -> Option<SecretString> {
    let clear = Decryptor::new(key.into(), iv.into()).decrypt_padded_vec::<Pkcs7>(cipher).ok()?;
    match String::from_utf8(clear) {
        Ok(text) => Some(SecretString::from(text)),
        Err(error) => {
            error.into_bytes().zeroize();
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{ProptestConfig, prop_assert, prop_assert_eq, proptest};

    const KEY: &str = "0123456789abcdef0123456789abcdef";

    #[test]
    fn the_stored_form_is_iv_and_ciphertext_in_hex() {
        let key = MasterKey::new(KEY).expect("key");
        let stored = key.encrypt("olá");
        let (iv, cipher) = stored.as_stored().split_once(':').expect("two parts");
        assert_eq!((iv.len(), cipher.len()), (32, 32));
        assert_ne!(stored, key.encrypt("olá"), "a fresh IV each time");
    }

    #[test]
    fn what_node_wrote_opens() {
        // createCipheriv('aes-256-cbc', KEY, Buffer.alloc(16, 7)) over "olá" in Node 20.
        let stored = "07070707070707070707070707070707:613d570dde55a59e8259ed2a505fc49c";
        let clear = MasterKey::new(KEY).expect("key").decrypt(&Encrypted::from_stored(stored.to_owned()));
        assert_eq!(clear.expect("opens").expose_secret(), "olá");
    }

    #[test]
    fn a_value_is_renewed_once() {
        let old = MasterKey::new(KEY).expect("key");
        let both = MasterKey::new("another-key-of-exactly-32-bytes!").expect("key");
        let both = both.with_previous(KEY).expect("key");
        let value = old.encrypt("olá");
        let renewed = both.renew(&value).expect("opens").expect("it was of the key before");
        let present = MasterKey::new("another-key-of-exactly-32-bytes!").expect("key");
        assert_eq!(present.decrypt(&renewed).expect("opens").expose_secret(), "olá");
        assert_eq!(both.renew(&renewed), Ok(None));
        assert_eq!(present.renew(&value), Err(CipherError));
    }

    #[test]
    fn the_key_is_32_bytes_not_32_characters() {
        assert_eq!(MasterKey::new("short").err(), Some(InvalidKey { found: 5 }));
        assert_eq!(MasterKey::new(&"é".repeat(32)).err(), Some(InvalidKey { found: 64 }));
        assert!(MasterKey::new(&"é".repeat(16)).is_ok());
    }

    #[test]
    fn a_replaced_key_still_opens_what_it_wrote() {
        let old = MasterKey::new(KEY).expect("key");
        let new = MasterKey::new(&KEY.replace('0', "z")).expect("key");
        let stored = old.encrypt("token");
        assert!(new.decrypt(&stored).is_err());
        let both = new.with_previous(KEY).expect("key");
        assert_eq!(both.decrypt(&stored).expect("opens").expose_secret(), "token");
    }

    #[test]
    fn damage_is_one_error_and_nothing_shows_the_key() {
        let key = MasterKey::new(KEY).expect("key");
        for bad in ["", ":", "zz:zz", "00:00", &format!("{}:{}", "0".repeat(32), "0".repeat(31))] {
            assert_eq!(
                key.decrypt(&Encrypted::from_stored(bad.to_owned())).err(),
                Some(CipherError),
                "{bad:?}"
            );
        }
        assert!(!format!("{key:?} {:?}", key.encrypt("x")).contains(KEY));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn what_is_encrypted_opens_again(clear in "\\PC{0,200}") {
            let key = MasterKey::new(KEY).expect("key");
            let opened = key.decrypt(&key.encrypt(&clear)).expect("opens");
            prop_assert_eq!(opened.expose_secret(), clear.as_str());
        }

        #[test]
        fn any_text_is_opened_or_refused_without_a_panic(text in "\\PC{0,200}") {
            let key = MasterKey::new(KEY).expect("key");
            prop_assert!(key.decrypt(&Encrypted::from_stored(text)).is_err());
        }
    }
}
