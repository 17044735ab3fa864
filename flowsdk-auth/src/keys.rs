//! The keys of this crate in the key-value store.
//!
//! They hold no address of a person: a part that names one is hashed, which bounds its length as well.

use std::time::Duration;

use flowsdk_core::kv::Key;
use flowsdk_core::time::Timestamp;
use sha2::{Digest as _, Sha256};

/// How often `limit` was used by `subject` in the window of this number. It is added to, hence without a time
/// to live of its own.
pub(crate) fn attempts(limit: &str, subject: &str, window: i64) -> Key<i64> {
    Key::new(format!("auth:attempts:{limit}:{}:{window}", digest(subject)), None)
}

/// When a refresh token was first used, for as long as it could be used again.
pub(crate) fn refreshed(token_id: &str, ttl: Duration) -> Key<Timestamp> {
    Key::new(format!("auth:refreshed:{}", digest(token_id)), Some(ttl))
}

fn digest(text: &str) -> String {
    let digest: [u8; 32] = Sha256::digest(text.as_bytes()).into();
    hex::encode(&digest[..16])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_short_and_name_nobody() {
        let key = attempts("login-email", "ana@example.com", 7);
        assert_eq!(key.as_str(), attempts("login-email", "ana@example.com", 7).as_str());
        assert_ne!(key.as_str(), attempts("login-email", "bia@example.com", 7).as_str());
        assert!(!key.as_str().contains("ana"));
        assert!(attempts("login-email", &"a".repeat(100_000), i64::MIN).as_str().len() < 100);
    }
}
