//! Compares passwords, in the same time for everybody.

use flowsdk_core::fault::StorageError;
use flowsdk_crypto::{MAX_SECRET_BYTES, PasswordError, PasswordHasher, cost_of};
use secrecy::{ExposeSecret as _, SecretString};

use super::LoginError;
use crate::user::User;

/// Returns whether `password` is that of `user`. The work is the same when there is no such user, when the password
/// is longer than any can be, and when the stored hash is cheaper than `cost`. The time tells nothing of an
/// account.
pub(super) async fn is_right(
    hasher: &PasswordHasher,
    password: &SecretString,
    user: Option<&User>,
    cost: u32,
) -> Result<bool, LoginError> {
    if password.expose_secret().len() > MAX_SECRET_BYTES {
        // No password is that long, so nobody's is compared. bcrypt takes as long for the empty one.
        return pretend(hasher, &SecretString::default(), cost).await.map(|()| false);
    }
    let Some(user) = user else {
        return pretend(hasher, password, cost).await.map(|()| false);
    };
    let stored = user.password_hash.as_str();
    if hasher.verify_or_pretend(password, Some(stored), cost).await.map_err(failed)? {
        return Ok(true);
    }
    for missing in top_up(cost_of(stored), cost) {
        pretend(hasher, password, missing).await?;
    }
    Ok(false)
}

/// Returns whether the hash was made with less work than `cost` and is to be made anew (rulings A5).
pub(super) fn is_cheap(stored: &str, cost: u32) -> bool {
    cost_of(stored).is_some_and(|stored| stored < cost)
}

/// Returns the costs of the comparisons that a comparison with a cheaper hash lacks: each doubles the work, so that
/// 2^s, and all from 2^s to 2^(c-1), together are 2^c.
fn top_up(stored: Option<u32>, cost: u32) -> std::ops::Range<u32> {
    stored.unwrap_or(cost)..cost
}

async fn pretend(hasher: &PasswordHasher, password: &SecretString, cost: u32) -> Result<(), LoginError> {
    hasher.verify_or_pretend(password, None, cost).await.map(drop).map_err(failed)
}

fn failed(error: PasswordError) -> LoginError {
    match error {
        PasswordError::TooLong => LoginError::Credentials,
        PasswordError::Busy => LoginError::Busy,
        PasswordError::Corrupt => LoginError::Storage(StorageError::Corrupt {
            entity: "user",
            reason: "its password hash is no bcrypt hash".to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cheaper_hash_is_topped_up_to_the_same_work() {
        for (stored, cost) in [(8, 8), (4, 8), (8, 14), (10, 8)] {
            let work: u64 = top_up(Some(stored), cost).map(|cost| 1_u64 << cost).sum();
            assert_eq!((1 << stored) + work, 1_u64 << stored.max(cost), "{stored} {cost}");
        }
        assert!(top_up(None, 8).is_empty());
    }

    #[test]
    fn only_a_cheaper_hash_is_made_anew() {
        let hash = format!("$2b$08${}", ".".repeat(53));
        assert!(is_cheap(&hash, 9));
        assert!(!is_cheap(&hash, 8) && !is_cheap(&hash, 7) && !is_cheap("none", 9));
    }
}
