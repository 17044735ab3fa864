//! The settings of observability, and what connections need of a transaction.

use async_trait::async_trait;
use flowsdk_core::crypto::Encrypted;
use flowsdk_core::fault::StorageError;
use flowsdk_core::integration::BaseUrl;
use flowsdk_core::observability::{ObservabilityRepository, ObservabilitySettings};
use flowsdk_core::time::Timestamp;

use super::SqlTx;
use super::executor::{execute, fetch_optional, optional_id, text};
use super::statement::{Sql, sql, sql_locking};

macro_rules! select {
    () => {
        "SELECT enabled, service_name, endpoint, logfire_token_encrypted, updated_at
         FROM observability_settings WHERE id = 1"
    };
}

const GET: Sql = sql(select!());

/// There is a row to lock then, so that nobody's change is lost, the first one neither.
const INSERT_DEFAULT: Sql = sql("INSERT INTO observability_settings (id, enabled, service_name)
     VALUES (1, 0, $1) ON CONFLICT (id) DO NOTHING");

const GET_FOR_UPDATE: Sql = sql_locking!(select!());

const SAVE: Sql = sql("UPDATE observability_settings SET enabled = $1, service_name = $2, endpoint = $3,
        logfire_token_encrypted = $4, updated_at = $5 WHERE id = 1");

super::statement::statements! { GET, INSERT_DEFAULT, GET_FOR_UPDATE, SAVE }

type Row = (i64, String, Option<String>, Option<String>, Option<i64>);

fn settings(row: Option<Row>) -> Result<ObservabilitySettings, StorageError> {
    let Some((enabled, service_name, endpoint, token, updated_at)) = row else {
        return Ok(ObservabilitySettings::default());
    };
    Ok(ObservabilitySettings {
        enabled: enabled != 0,
        service_name,
        endpoint: optional_id("observability_settings", endpoint)?,
        logfire_token: token.map(Encrypted::from_stored),
        updated_at: updated_at.map(Timestamp::from_millis),
    })
}

#[async_trait]
impl ObservabilityRepository for SqlTx {
    async fn get(&mut self) -> Result<ObservabilitySettings, StorageError> {
        settings(fetch_optional!(self.conn, Row, GET)?)
    }

    async fn get_for_update(&mut self) -> Result<ObservabilitySettings, StorageError> {
        execute!(self.conn, INSERT_DEFAULT, flowsdk_core::observability::DEFAULT_SERVICE_NAME)?;
        settings(fetch_optional!(self.conn, Row, GET_FOR_UPDATE)?)
    }

    async fn save(&mut self, settings: &ObservabilitySettings) -> Result<(), StorageError> {
        execute!(
            self.conn,
            SAVE,
            i64::from(settings.enabled),
            text(&settings.service_name),
            settings.endpoint.as_ref().map(BaseUrl::as_str),
            settings.logfire_token.as_ref().map(Encrypted::as_stored),
            settings.updated_at.map(Timestamp::as_millis),
        )
        .map(drop)
    }
}
