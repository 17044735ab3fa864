//! Settings of the commands that change users.

use flowsdk_store::sql::DatabaseUrl;

use super::{ConfigError, Environment, api};

/// The part of the configuration that `create-admin` and `reset-password` need; the names are those of `serve`.
#[derive(Debug)]
pub struct OperatorConfig {
    /// `DATABASE_URL`.
    pub database: DatabaseUrl,
    /// Whether there is a `REDIS_URL`: then servers may run meanwhile.
    pub is_shared: bool,
    /// `BCRYPT_COST`.
    pub password_cost: u32,
}

impl OperatorConfig {
    /// Reads and checks the settings.
    ///
    /// # Errors
    /// Every problem at once.
    pub fn read(mut env: Environment<'_>) -> Result<Self, ConfigError> {
        if env.text("DATABASE_URL").is_none() {
            env.problem("DATABASE_URL", "is missing, and --data is not given");
        }
        let config = Self {
            database: env.parsed("DATABASE_URL").unwrap_or(DatabaseUrl::SqliteMemory),
            is_shared: env.text("REDIS_URL").is_some(),
            password_cost: api::password_cost(&mut env),
        };
        env.finish()?;
        Ok(config)
    }
}
