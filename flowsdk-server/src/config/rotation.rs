//! Settings of the rotation of secrets.

use flowsdk_core::crypto::MasterKey;
use flowsdk_store::sql::DatabaseUrl;

use super::{Agreed, ConfigError, Environment, agreed, master_key};

/// The part of the configuration that `rotate-secrets` needs; the names are those of `serve`.
#[derive(Debug)]
pub struct RotationConfig {
    /// `DATABASE_URL`.
    pub database: DatabaseUrl,
    /// Whether there is a `REDIS_URL`: then servers may run meanwhile.
    pub is_shared: bool,
    /// `CRYPTO_SECRET` and `CRYPTO_SECRET_PREVIOUS`.
    pub master_key: MasterKey,
    /// `CRYPTO_SECRET` as servers compare it.
    pub agreed: Agreed,
}

impl RotationConfig {
    /// Reads and checks the settings.
    ///
    /// # Errors
    /// Every problem at once.
    pub fn read(mut env: Environment<'_>) -> Result<Self, ConfigError> {
        for name in ["DATABASE_URL", "CRYPTO_SECRET_PREVIOUS"] {
            if env.text(name).is_none() {
                env.problem(name, "is missing");
            }
        }
        let config = Self {
            database: env.parsed("DATABASE_URL").unwrap_or(DatabaseUrl::SqliteMemory),
            is_shared: env.text("REDIS_URL").is_some(),
            master_key: master_key::master_key(&mut env),
            agreed: agreed::crypto_secret(&env),
        };
        env.finish()?;
        Ok(config)
    }
}
