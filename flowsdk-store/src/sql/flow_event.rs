//! What flows record.

use async_trait::async_trait;
use flowsdk_core::fault::StorageError;
use flowsdk_core::flow::{TrackedEvent, TrackedEventRepository};
use flowsdk_core::id::RouterId;
use flowsdk_core::time::Timestamp;
use serde_json::{Map, Value};
use sqlx::types::Json;

use super::SqlTx;
use super::executor::{execute_rows, fetch_all, id, json, text};
use super::statement::{RowsSql, Sql, sql};

type Row = (String, String, String, String, String, String, String, String, Json<Map<String, Value>>, i64);

fn event(row: Row) -> Result<TrackedEvent, StorageError> {
    let (
        event_id,
        router_id,
        flow_id,
        block_id,
        session_id,
        contact_id,
        chat_id,
        name,
        Json(properties),
        created_at,
    ) = row;
    Ok(TrackedEvent {
        id: event_id,
        router_id: id("flow_event", router_id)?,
        flow_id: id("flow_event", flow_id)?,
        block_id: id("flow_event", block_id)?,
        session_id: id("flow_event", session_id)?,
        contact_id: id("flow_event", contact_id)?,
        chat_id: id("flow_event", chat_id)?,
        name,
        properties,
        created_at: Timestamp::from_millis(created_at),
    })
}

static INSERT: RowsSql = RowsSql::new(
    "INSERT INTO flow_event (id, router_id, flow_id, block_id, session_id, contact_id, chat_id, name, properties,
                             created_at) VALUES ",
    10,
    "",
);

const LATEST: Sql = sql(
    "SELECT id, router_id, flow_id, block_id, session_id, contact_id, chat_id, name, properties, created_at
     FROM flow_event WHERE router_id = $1 ORDER BY created_at DESC, id DESC LIMIT $2",
);

super::statement::statements! { LATEST; INSERT }

#[async_trait]
impl TrackedEventRepository for SqlTx {
    async fn append_many(&mut self, events: &[TrackedEvent]) -> Result<(), StorageError> {
        execute_rows!(self.conn, INSERT, events, |query, event| query
            .bind(event.id.as_str())
            .bind(event.router_id.as_str())
            .bind(event.flow_id.as_str())
            .bind(event.block_id.as_str())
            .bind(event.session_id.as_str())
            .bind(event.contact_id.as_str())
            .bind(event.chat_id.as_str())
            .bind(text(&event.name))
            .bind(json(&event.properties)?)
            .bind(event.created_at.as_millis()))
        .await
        .map(drop)
    }

    async fn latest(&mut self, router: &RouterId, limit: u32) -> Result<Vec<TrackedEvent>, StorageError> {
        fetch_all!(self.conn, Row, LATEST, router.as_str(), i64::from(limit))?
            .into_iter()
            .map(event)
            .collect()
    }
}
