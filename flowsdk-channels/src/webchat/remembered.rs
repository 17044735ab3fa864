//! Session keys that need no bcrypt for a while.

use std::fmt;
use std::time::Duration;

use hmac::{Hmac, KeyInit as _, Mac as _};
use moka::sync::Cache;
use rand::RngExt as _;
use secrecy::{ExposeSecret as _, SecretString};
use sha2::Sha256;
use subtle::ConstantTimeEq as _;

/// How long a key that was right is remembered, so that a reconnect needs no bcrypt.
const REMEMBER_FOR: Duration = Duration::from_secs(15 * 60);
/// Most keys that are remembered at once.
const REMEMBERED: u64 = 100_000;

/// Keys that were right a short while ago, as keyed digests in memory: never the key, never stored.
pub(super) struct Remembered {
    /// As long as a block of the hash.
    secret: [u8; 64],
    digests: Cache<String, [u8; 32]>,
}

impl fmt::Debug for Remembered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Remembered")
    }
}

impl Remembered {
    pub(super) fn new() -> Self {
        let digests = Cache::builder().max_capacity(REMEMBERED).time_to_live(REMEMBER_FOR).build();
        Self { secret: rand::rng().random(), digests }
    }

    /// Of the key and of the stored hash, so that a changed key is not remembered.
    fn digest(&self, key: &SecretString, hash: &str) -> [u8; 32] {
        let mut mac = Hmac::<Sha256>::new((&self.secret).into());
        mac.update(hash.as_bytes());
        mac.update(key.expose_secret().as_bytes());
        mac.finalize().into_bytes().into()
    }

    /// Remembers a key that was right.
    pub(super) fn note(&self, identity: &str, key: &SecretString, hash: &str) {
        self.digests.insert(identity.to_owned(), self.digest(key, hash));
    }

    /// Returns whether the key was right a short while ago.
    pub(super) fn knows(&self, identity: &str, key: &SecretString, hash: &str) -> bool {
        let known = self.digests.get(identity);
        known.is_some_and(|known| bool::from(known.ct_eq(&self.digest(key, hash))))
    }
}
