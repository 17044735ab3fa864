//! bcrypt on a bounded blocking pool.
//!
//! A hash costs tens of milliseconds of a core on purpose. It never runs on an async worker, and no
//! more hashes run or wait than the pool allows: beyond that the answer is [`PasswordError::Busy`].

use std::fmt;
use std::sync::Arc;

use secrecy::{ExposeSecret as _, SecretString};
use tokio::sync::Semaphore;

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
    /// What is stored is no bcrypt hash.
    #[error("not a bcrypt hash")]
    Corrupt,
}

/// Hashes and compares secrets.
#[derive(Clone)]
pub struct PasswordHasher {
    running: Arc<Semaphore>,
    admitted: Arc<Semaphore>,
}

impl fmt::Debug for PasswordHasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PasswordHasher")
    }
}

impl PasswordHasher {
    /// At most `parallel` hashes run and `waiting` more wait.
    pub fn new(parallel: usize, waiting: usize) -> Self {
        let parallel = parallel.max(1);
        Self {
            running: Arc::new(Semaphore::new(parallel)),
            admitted: Arc::new(Semaphore::new(parallel.saturating_add(waiting).min(Semaphore::MAX_PERMITS))),
        }
    }

    /// The bcrypt hash of `secret`.
    pub async fn hash(&self, secret: &SecretString, cost: u32) -> Result<String, PasswordError> {
        if secret.expose_secret().len() > MAX_SECRET_BYTES {
            return Err(PasswordError::TooLong);
        }
        let secret = secret.clone();
        // The library's non-truncating twin counts a closing NUL and refuses 72 bytes, too.
        self.run(move || bcrypt::hash(secret.expose_secret(), cost).map_err(|_| PasswordError::Corrupt)).await
    }

    /// Whether `secret` has the hash `stored`.
    pub async fn verify(&self, secret: &SecretString, stored: &str) -> Result<bool, PasswordError> {
        if secret.expose_secret().len() > MAX_SECRET_BYTES {
            return Err(PasswordError::TooLong);
        }
        let (secret, stored) = (secret.clone(), stored.to_owned());
        self.run(move || bcrypt::verify(secret.expose_secret(), &stored).map_err(|_| PasswordError::Corrupt))
            .await
    }

    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, PasswordError> + Send + 'static,
    ) -> Result<T, PasswordError> {
        let _admitted = self.admitted.try_acquire().map_err(|_| PasswordError::Busy)?;
        let running = Arc::clone(&self.running).acquire_owned().await.map_err(|_| PasswordError::Busy)?;
        tokio::task::spawn_blocking(move || {
            // Held until the hash is done, also when the caller has gone away.
            let _running = running;
            work()
        })
        .await
        .map_err(|_| PasswordError::Busy)?
    }
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
        let (a, b, c) =
            tokio::join!(hasher.hash(&secret, 4), hasher.hash(&secret, 4), hasher.hash(&secret, 4));
        assert!(a.is_ok() && b.is_ok());
        assert_eq!(c, Err(PasswordError::Busy));
    }
}
