//! The code: 3 random bytes as 6 hexadecimal digits (spec A 4.1 rule 5).

use flowsdk_core::id::PasswordRecoveryId;
use rand::RngExt as _;
use secrecy::{ExposeSecret as _, SecretString};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// Returns a new code from the system's random source.
pub(super) fn generate() -> SecretString {
    let random: [u8; 3] = rand::rng().random();
    SecretString::from(hex::encode(random))
}

/// Returns the stored hash of a code, salted by the id of its recovery.
///
/// A slow hash would protect nothing. A caller without access to the database has five tries of 16,777,216 codes in
/// 30 minutes. A reader of the database can try all of them within that time, under any hash that a login can
/// afford. The hash keeps codes out of copies that people read in passing (backups, replicas, a support query),
/// where they are void by the time anybody could use them.
pub(super) fn hash(recovery: &PasswordRecoveryId, code: &SecretString) -> String {
    let mut hash = Sha256::new();
    hash.update(recovery.as_str().as_bytes());
    hash.update(b":");
    hash.update(code.expose_secret().as_bytes());
    hex::encode(hash.finalize())
}

/// Returns whether `given`, in either case, is the code with the hash `stored`; the time does not tell how much of
/// it is right.
pub(super) fn is_right(recovery: &PasswordRecoveryId, given: &str, stored: &str) -> bool {
    let given = SecretString::from(given.trim().to_ascii_lowercase());
    hash(recovery, &given).as_bytes().ct_eq(stored.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_six_digits_and_right_in_either_case() {
        let id = PasswordRecoveryId::parse("c1").expect("an id");
        let other = PasswordRecoveryId::parse("c2").expect("an id");
        for _ in 0..100 {
            let code = generate();
            let text = code.expose_secret();
            assert_eq!((text.len(), hex::decode(text).map(|bytes| bytes.len())), (6, Ok(3)));
            let stored = hash(&id, &code);
            assert!(is_right(&id, text, &stored));
            assert!(is_right(&id, &format!(" {} ", text.to_uppercase()), &stored));
            assert!(!is_right(&other, text, &stored), "the hash of another recovery");
            for wrong in ["", "zzzzzz", &text[..5], &format!("{text}0"), &stored] {
                assert!(!is_right(&id, wrong, &stored), "{wrong}");
            }
            assert!(!stored.contains(text) && !format!("{code:?}").contains(text));
        }
    }
}
