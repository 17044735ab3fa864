//! bcrypt on a bounded pool of its own.
//!
//! A hash costs tens of milliseconds of a core on purpose. It never runs on an async worker, its threads
//! give way to all others, and no more hashes run or wait than the pool allows: beyond that the answer is
//! [`PasswordError::Busy`].

use std::fmt;
use std::sync::Arc;

use bcrypt::HashParts;
use secrecy::{ExposeSecret as _, SecretString};

use super::pool::Pool;

/// Cost of user passwords (spec A 2.9).
pub const PASSWORD_COST: u32 = 8;
/// Cost of webchat session keys (spec A 2.9, B 2.1).
pub const SESSION_KEY_COST: u32 = 10;
/// bcrypt reads no more than this; longer secrets are refused, never truncated (rulings A5).
pub const MAX_SECRET_BYTES: usize = 72;

/// Why a secret was not hashed or compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PasswordError {
    /// The secret has more than 72 bytes.
    #[error("a secret may have at most {MAX_SECRET_BYTES} bytes")]
    TooLong,
    /// Too many hashes are waiting.
    #[error("too many hashes are waiting")]
    Busy,
    /// The stored value is not a bcrypt hash.
    #[error("not a bcrypt hash")]
    Corrupt,
}

/// Hashes and compares secrets. Clones share one pool of threads, which ends with the last of them.
#[derive(Clone)]
pub struct PasswordHasher {
    pool: Arc<Pool>,
}

impl fmt::Debug for PasswordHasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PasswordHasher")
    }
}

impl PasswordHasher {
    /// At most `parallel` hashes run and `waiting` more wait. Threads are started when they are needed.
    pub fn new(parallel: usize, waiting: usize) -> Self {
        Self { pool: Arc::new(Pool::new("bcrypt", parallel.max(1), waiting)) }
    }

    /// Returns the bcrypt hash of `secret`.
    ///
    /// # Errors
    /// [`PasswordError::TooLong`], [`PasswordError::Busy`]; [`PasswordError::Corrupt`] for a cost outside
    /// of 4 to 31.
    pub async fn hash(&self, secret: &SecretString, cost: u32) -> Result<String, PasswordError> {
        let secret = bounded(secret)?;
        // The library's non-truncating twin counts a closing NUL and refuses 72 bytes, too.
        self.run(move || bcrypt::hash(secret.expose_secret(), cost).map_err(|_| PasswordError::Corrupt)).await
    }

    /// Returns whether `secret` has the hash `stored`.
    ///
    /// # Errors
    /// Any [`PasswordError`].
    pub async fn verify(&self, secret: &SecretString, stored: &str) -> Result<bool, PasswordError> {
        let (secret, stored) = (bounded(secret)?, stored.to_owned());
        self.run(move || bcrypt::verify(secret.expose_secret(), &stored).map_err(|_| PasswordError::Corrupt))
            .await
    }

    /// [`Self::verify`], or the same work for nothing where there is no hash: then it takes as long as a
    /// comparison at `cost` and is false, so that the time does not tell who has an account.
    ///
    /// # Errors
    /// Any [`PasswordError`]; [`PasswordError::Corrupt`] too for a cost outside of 4 to 31.
    pub async fn verify_or_pretend(
        &self,
        secret: &SecretString,
        stored: Option<&str>,
        cost: u32,
    ) -> Result<bool, PasswordError> {
        match stored {
            Some(stored) => self.verify(secret, stored).await,
            None => self.verify(secret, &pretended(cost)).await.map(|_| false),
        }
    }

    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, PasswordError> + Send + 'static,
    ) -> Result<T, PasswordError> {
        let answer = self.pool.submit(work).ok_or(PasswordError::Busy)?;
        answer.await.map_err(|_| PasswordError::Busy)?
    }
}

/// Returns the cost of a bcrypt hash, or `None` when it is none.
pub fn cost_of(stored: &str) -> Option<u32> {
    stored.parse::<HashParts>().ok().map(|parts| parts.get_cost())
}

/// Returns a hash that no known secret has: a salt and a digest of zeros. It is written down rather than computed,
/// because then not even the first comparison with it takes longer than any other.
fn pretended(cost: u32) -> String {
    format!("$2b${cost:02}${:.<53}", "")
}

fn bounded(secret: &SecretString) -> Result<SecretString, PasswordError> {
    if secret.expose_secret().len() > MAX_SECRET_BYTES {
        return Err(PasswordError::TooLong);
    }
    Ok(secret.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_hash_knows_its_secret_and_no_other() {
        let hasher = PasswordHasher::new(2, 2);
        let stored = hasher.hash(&"segredo".into(), 4).await.expect("hashes");
        assert_eq!(hasher.verify(&"segredo".into(), &stored).await, Ok(true));
        assert_eq!(hasher.verify(&"Segredo".into(), &stored).await, Ok(false));
        assert_eq!(hasher.verify(&"segredo".into(), "none").await, Err(PasswordError::Corrupt));
    }

    #[tokio::test]
    async fn seventy_three_bytes_are_refused_and_not_truncated() {
        let hasher = PasswordHasher::new(1, 0);
        let stored = hasher.hash(&"a".repeat(72).into(), 4).await.expect("hashes");
        assert_eq!(hasher.hash(&"a".repeat(73).into(), 4).await, Err(PasswordError::TooLong));
        assert_eq!(hasher.verify(&"a".repeat(73).into(), &stored).await, Err(PasswordError::TooLong));
    }

    #[tokio::test]
    async fn beyond_its_queue_it_is_busy() {
        let hasher = PasswordHasher::new(1, 1);
        let secret = SecretString::from("x");
        // So slow that the first cannot be done before the third is asked for.
        let hash = || hasher.hash(&secret, SESSION_KEY_COST);
        let (a, b, c) = tokio::join!(hash(), hash(), hash());
        assert!(a.is_ok() && b.is_ok());
        assert_eq!(c, Err(PasswordError::Busy));
    }

    #[tokio::test]
    async fn a_cost_that_bcrypt_does_not_know_is_an_error() {
        let hasher = PasswordHasher::new(1, 0);
        assert_eq!(hasher.hash(&"x".into(), 3).await, Err(PasswordError::Corrupt));
        for cost in [3, 32, 100] {
            assert_eq!(
                hasher.verify_or_pretend(&"x".into(), None, cost).await,
                Err(PasswordError::Corrupt),
                "{cost}"
            );
        }
    }

    #[tokio::test]
    async fn nobody_has_the_pretended_hash_and_it_has_the_cost_asked_for() {
        let hasher = PasswordHasher::new(1, 0);
        let stored = hasher.hash(&"segredo".into(), 4).await.expect("hashes");
        assert_eq!(hasher.verify_or_pretend(&"segredo".into(), Some(&stored), 4).await, Ok(true));
        assert_eq!(hasher.verify_or_pretend(&"outro".into(), Some(&stored), 4).await, Ok(false));
        for secret in ["", "segredo", "\0"] {
            assert_eq!(hasher.verify_or_pretend(&secret.into(), None, 4).await, Ok(false), "{secret:?}");
        }
        assert_eq!(cost_of(&pretended(4)), Some(4));
        assert_eq!(cost_of(&pretended(PASSWORD_COST)), Some(PASSWORD_COST));
    }

    #[test]
    fn the_cost_is_read_from_the_hash() {
        let stored = bcrypt::hash("segredo", 5).expect("hashes");
        assert_eq!(cost_of(&stored), Some(5));
        for none in ["", "segredo", "$2b$05$short"] {
            assert_eq!(cost_of(none), None, "{none:?}");
        }
    }
}
