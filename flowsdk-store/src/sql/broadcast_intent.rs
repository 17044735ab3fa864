//! Broadcast intents.

use async_trait::async_trait;
use constcat::concat;
use flowsdk_core::broadcast::{BroadcastIntent, HasIntents, IntentRepository, OpenIntent};
use flowsdk_core::cell::Json;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::MessageId;
use flowsdk_core::time::Timestamp;

use super::SqlTx;
use super::bind::Binder;
use super::record::{Record as _, record};
use super::row::With;
use super::statement::{RowsSql, Sql, sql, sql_list, sql_per};

record! {
    BroadcastIntent in "broadcast_intent" {
        message_id, campaign_id, phone_number_id, recipient, router_id, queue_id, user_id, flow_id, block_id, created_at
    }
}

static INSERT: RowsSql = RowsSql::insert::<BroadcastIntent>("");

/// Nobody answers a message that failed.
const OPEN: &str = ", (SELECT provider_id FROM message WHERE message.id = broadcast_intent.message_id) FROM broadcast_intent
     WHERE EXISTS (SELECT 1 FROM message WHERE message.id = broadcast_intent.message_id AND message.status <> 'failed') AND ";

/// `$1` lists `[number, recipient]`.
const FIND: Sql = sql_per(
    concat!(
        "SELECT ",
        BroadcastIntent::COLUMNS,
        OPEN,
        "(phone_number_id, recipient) IN (SELECT value ->> 0, value ->> 1 FROM json_each($1)) AND created_at > $2
         ORDER BY created_at, message_id"
    ),
    concat!(
        "SELECT ",
        BroadcastIntent::COLUMNS,
        OPEN,
        "(phone_number_id, recipient) IN (
            SELECT asked.value ->> 0, asked.value ->> 1 FROM jsonb_array_elements($1) AS asked (value))
            AND created_at > $2 ORDER BY created_at, message_id"
    ),
);

const DELETE: Sql = sql_list!("DELETE FROM broadcast_intent WHERE message_id ", "$1", "");
const FORGET: Sql = sql("DELETE FROM broadcast_intent WHERE created_at < $1");

super::statement::statements! { FIND, DELETE, FORGET; INSERT }

super::accessor::has!(HasIntents::intents -> IntentRepository);

#[async_trait]
impl IntentRepository for SqlTx {
    async fn insert_many(&mut self, intents: &[BroadcastIntent]) -> Result<(), StorageError> {
        let bind = |to: &mut Binder<'_>, intent: &BroadcastIntent| intent.bind(to);
        self.conn.execute_rows(&INSERT, intents, bind).await.map(drop)
    }

    async fn find(
        &mut self,
        pairs: &[(&str, &str)],
        after: Timestamp,
    ) -> Result<Vec<OpenIntent>, StorageError> {
        type Row = With<BroadcastIntent, (Option<String>,)>;
        let rows = self.conn.fetch_all::<Row>(FIND, (Json(pairs), after)).await?;
        Ok(rows.into_iter().map(|With(intent, (provider_id,))| OpenIntent { intent, provider_id }).collect())
    }

    async fn delete(&mut self, messages: &[MessageId]) -> Result<(), StorageError> {
        self.conn.execute(DELETE, (Json(messages),)).await.map(drop)
    }

    async fn forget(&mut self, before: Timestamp) -> Result<u64, StorageError> {
        self.conn.execute(FORGET, (before,)).await
    }
}
