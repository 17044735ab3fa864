//! Channels, as far as they travel with their router.

use async_trait::async_trait;
use flowsdk_core::crypto::Encrypted;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::RouterId;
use flowsdk_core::time::Timestamp;
use flowsdk_core::transfer::{ChannelTransfer, PortableChannel};
use serde_json::Value;
use sqlx::types::Json;

use super::SqlTx;
use super::executor::{execute_rows, fetch_all, id, json, optional_id, text};
use super::statement::{RowsSql, Sql, sql};

const CHANNELS_OF: Sql =
    sql("SELECT id, name, appearance, allowed_origins, initial_flow_id, embed_secret_encrypted
     FROM webchat_channel WHERE router_id = $1 AND is_test_channel = 0 ORDER BY created_at, id");

static INSERT: RowsSql = RowsSql::new(
    "INSERT INTO webchat_channel (id, router_id, name, is_test_channel, appearance, initial_flow_id,
                                  embed_secret_encrypted, allowed_origins, created_at) VALUES ",
    9,
    "",
);

super::statement::statements! { CHANNELS_OF; INSERT }

#[async_trait]
impl ChannelTransfer for SqlTx {
    async fn channels_of(&mut self, router: &RouterId) -> Result<Vec<PortableChannel>, StorageError> {
        type Row =
            (String, String, Option<Json<Value>>, Option<Json<Vec<String>>>, Option<String>, Option<String>);
        let rows = fetch_all!(self.conn, Row, CHANNELS_OF, router.as_str())?;
        rows.into_iter()
            .map(|(channel_id, name, appearance, origins, flow, secret)| {
                Ok(PortableChannel {
                    id: id("webchat_channel", channel_id)?,
                    name,
                    appearance: appearance.map(|Json(value)| value),
                    allowed_origins: origins.map(|Json(list)| list),
                    initial_flow_id: optional_id("webchat_channel", flow)?,
                    is_closed: secret.is_some(),
                })
            })
            .collect()
    }

    async fn insert_channels_of(
        &mut self,
        router: &RouterId,
        channels: &[(PortableChannel, Option<Encrypted>)],
        now: Timestamp,
    ) -> Result<(), StorageError> {
        execute_rows!(self.conn, INSERT, channels, |query, row| query
            .bind(row.0.id.as_str())
            .bind(router.as_str())
            .bind(text(&row.0.name))
            .bind(0_i64)
            .bind(row.0.appearance.as_ref().map(json).transpose()?)
            .bind(row.0.initial_flow_id.as_ref().map(|id| id.as_str()))
            .bind(row.1.as_ref().map(Encrypted::as_stored))
            .bind(row.0.allowed_origins.as_ref().map(json).transpose()?)
            .bind(now.as_millis()))
        .await
        .map(drop)
    }
}
