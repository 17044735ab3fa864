//! Events that flows record.

use async_trait::async_trait;
use constcat::concat;
use flowsdk_core::fault::StorageError;
use flowsdk_core::flow::{HasTrackedEvents, TrackedEvent, TrackedEventRepository};
use flowsdk_core::id::RouterId;

use super::SqlTx;
use super::record::{Record as _, record};
use super::statement::{RowsSql, Sql, sql};

record! {
    TrackedEvent in "flow_event" {
        id, router_id, flow_id, block_id, session_id, contact_id, chat_id, name, properties: json, created_at
    }
}

static INSERT: RowsSql = RowsSql::insert::<TrackedEvent>("");

const LATEST: Sql =
    sql(concat!(TrackedEvent::SELECT, " WHERE router_id = $1 ORDER BY created_at DESC, id DESC LIMIT $2"));

super::statement::statements! { LATEST; INSERT }

super::accessor::has!(HasTrackedEvents::tracked_events -> TrackedEventRepository);

#[async_trait]
impl TrackedEventRepository for SqlTx {
    async fn append_many(&mut self, events: &[TrackedEvent]) -> Result<(), StorageError> {
        self.conn.insert_rows(&INSERT, events).await.map(drop)
    }

    async fn latest(&mut self, router: &RouterId, limit: u32) -> Result<Vec<TrackedEvent>, StorageError> {
        self.conn.fetch_all(LATEST, (router, i64::from(limit))).await
    }
}
