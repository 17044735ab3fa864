//! The settings of observability, and the transaction that connections need.

use async_trait::async_trait;
use constcat::concat;
use flowsdk_core::fault::StorageError;
use flowsdk_core::observability::{
    DEFAULT_SERVICE_NAME, HasObservability, ObservabilityRepository, ObservabilitySettings,
};

use super::SqlTx;
use super::record::{All, Record as _, record};
use super::statement::{Sql, sql, sql_locking};

record! {
    ObservabilitySettings in "observability_settings" {
        enabled, service_name, endpoint, logfire_token = logfire_token_encrypted, updated_at
    }
}

const GET: Sql = sql(concat!(ObservabilitySettings::SELECT, " WHERE id = 1"));

/// There is a row to lock then, so that nobody's change is lost, the first one neither.
const INSERT_DEFAULT: Sql = sql("INSERT INTO observability_settings (id, enabled, service_name)
     VALUES (1, 0, $1) ON CONFLICT (id) DO NOTHING");

const GET_FOR_UPDATE: Sql = sql_locking!(concat!(ObservabilitySettings::SELECT, " WHERE id = 1"));

const SAVE: Sql = sql("UPDATE observability_settings SET enabled = $1, service_name = $2, endpoint = $3,
        logfire_token_encrypted = $4, updated_at = $5 WHERE id = 1");

super::statement::statements! { GET, INSERT_DEFAULT, GET_FOR_UPDATE, SAVE }

super::accessor::has!(HasObservability::observability -> ObservabilityRepository);

#[async_trait]
impl ObservabilityRepository for SqlTx {
    async fn get(&mut self) -> Result<ObservabilitySettings, StorageError> {
        Ok(self.conn.fetch_optional(GET, ()).await?.unwrap_or_default())
    }

    async fn get_for_update(&mut self) -> Result<ObservabilitySettings, StorageError> {
        self.conn.execute(INSERT_DEFAULT, (DEFAULT_SERVICE_NAME,)).await?;
        Ok(self.conn.fetch_optional(GET_FOR_UPDATE, ()).await?.unwrap_or_default())
    }

    async fn save(&mut self, settings: &ObservabilitySettings) -> Result<(), StorageError> {
        self.conn.execute(SAVE, All(settings)).await.map(drop)
    }
}
