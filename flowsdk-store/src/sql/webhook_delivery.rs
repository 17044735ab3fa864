//! Deliveries of webhooks.

use async_trait::async_trait;
use constcat::concat;
use flowsdk_core::cell::Json;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::RouterId;
use flowsdk_core::page::{Page, PageRequest};
use flowsdk_core::time::Timestamp;
use flowsdk_webhooks::delivery::{
    Attempt, Delivery, DeliveryFilter, DeliveryId, DeliveryRepository, DueDelivery, HasDeliveries,
    ReplayRange,
};
use flowsdk_webhooks::webhook::{Webhook, WebhookId};
use serde_json::json;

use super::SqlTx;
use super::list::{Filter, ListSql, asked, given};
use super::record::{All, Record as _, record};
use super::row::{Cells, Row};
use super::statement::{Sql, sql, sql_list, sql_per};

record! {
    Delivery in "webhook_delivery" {
        id, webhook_id, event_id, event_type, key, seq, body, created_at;
        status, attempts, due_at, finished_at
    }
}

record! {
    Attempt in "webhook_attempt" {
        id, delivery_id, status_code, error, answer, duration_ms, created_at
    }
}

impl Row for DueDelivery {
    fn read(cells: &mut Cells<'_>) -> Result<Self, StorageError> {
        let (delivery, url, secret) = (Delivery::read(cells)?, cells.next()?, cells.next()?);
        let (previous_secret, previous_secret_ends_at) = (cells.next()?, cells.next()?);
        Ok(Self { delivery, url, secret, previous_secret, previous_secret_ends_at })
    }
}

/// Those of a webhook.
pub(super) static LIST: ListSql<(WebhookId, DeliveryFilter)> = ListSql::of::<Delivery>().filters(&[
    Filter::of("webhook_id = {}", |of: &(WebhookId, DeliveryFilter)| given(&of.0))
        .always()
        .indexed("webhook_delivery_newest", "webhook_delivery_newest"),
    Filter::of("status = {}", |of: &(WebhookId, DeliveryFilter)| asked(&of.1.status)),
]);

const WEBHOOKS_OF: Sql =
    sql_list!(concat!(Webhook::SELECT, " WHERE is_active = 1 AND router_id "), "$1", " ORDER BY id");

/// `$1` lists `[id, webhook, event, type, key, body, time]`. A delivery is not due while another one of its conversation
/// is before it, nor while nothing is sent to its webhook. Nothing is told of a contact that is gone, but its end.
const APPEND: Sql = sql_per(
    "INSERT INTO webhook_delivery (id, webhook_id, event_id, event_type, key, seq, body, created_at, status, attempts, due_at)
     SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4,
        1 + COALESCE((SELECT MAX(seq) FROM webhook_delivery AS last
            WHERE last.webhook_id = value ->> 1 AND last.key = value ->> 4), 0),
        value ->> 5, value ->> 6, 'pending', 0,
        CASE WHEN EXISTS (SELECT 1 FROM webhook_delivery AS before
                WHERE before.webhook_id = value ->> 1 AND before.key = value ->> 4 AND before.status = 'pending')
            OR NOT EXISTS (SELECT 1 FROM webhook
                WHERE webhook.id = value ->> 1 AND webhook.is_active = 1 AND webhook.paused_at IS NULL)
            THEN NULL ELSE $2 END
     FROM json_each($1) WHERE EXISTS (SELECT 1 FROM webhook WHERE webhook.id = value ->> 1)
        AND (value ->> 3 NOT IN ('contact.created', 'contact.updated')
            OR EXISTS (SELECT 1 FROM contact WHERE contact.id = value ->> 4))
     ON CONFLICT (webhook_id, event_id) DO NOTHING",
    "INSERT INTO webhook_delivery (id, webhook_id, event_id, event_type, key, seq, body, created_at, status, attempts, due_at)
     SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4,
        1 + COALESCE((SELECT MAX(seq) FROM webhook_delivery AS last
            WHERE last.webhook_id = value ->> 1 AND last.key = value ->> 4), 0),
        value ->> 5, CAST(value ->> 6 AS bigint), 'pending', 0,
        CASE WHEN EXISTS (SELECT 1 FROM webhook_delivery AS before
                WHERE before.webhook_id = value ->> 1 AND before.key = value ->> 4 AND before.status = 'pending')
            OR NOT EXISTS (SELECT 1 FROM webhook
                WHERE webhook.id = value ->> 1 AND webhook.is_active = 1 AND webhook.paused_at IS NULL)
            THEN NULL ELSE $2::bigint END
     FROM jsonb_array_elements($1) AS new (value) WHERE EXISTS (SELECT 1 FROM webhook WHERE webhook.id = value ->> 1)
        AND (value ->> 3 NOT IN ('contact.created', 'contact.updated')
            OR EXISTS (SELECT 1 FROM contact WHERE contact.id = value ->> 4))
     ON CONFLICT (webhook_id, event_id) DO NOTHING",
);

/// The longest due of each webhook. One that was replayed before another one of its conversation goes first.
const DUE: Sql = sql(concat!(
    "SELECT ",
    OF_DELIVERY,
    ", webhook.url, webhook.secret_encrypted, webhook.previous_secret_encrypted, webhook.previous_secret_ends_at FROM (
        SELECT id, ROW_NUMBER() OVER (PARTITION BY webhook_id ORDER BY due_at, id) AS place FROM webhook_delivery AS due
        WHERE due.status = 'pending' AND due.due_at <= $1 AND NOT EXISTS (SELECT 1 FROM webhook_delivery AS before
            WHERE before.webhook_id = due.webhook_id AND before.key = due.key AND before.status = 'pending'
            AND before.seq < due.seq)
     ) AS first JOIN webhook_delivery ON webhook_delivery.id = first.id
     JOIN webhook ON webhook.id = webhook_delivery.webhook_id
     WHERE first.place <= $2 AND webhook.is_active = 1 AND webhook.paused_at IS NULL
     ORDER BY webhook_delivery.due_at, webhook_delivery.id LIMIT $3"
));

/// The columns of a delivery beside those of other tables.
const OF_DELIVERY: &str =
    "webhook_delivery.id, webhook_delivery.webhook_id, webhook_delivery.event_id, webhook_delivery.event_type,
    webhook_delivery.key, webhook_delivery.seq, webhook_delivery.body, webhook_delivery.created_at, webhook_delivery.status,
    webhook_delivery.attempts, webhook_delivery.due_at, webhook_delivery.finished_at";

const WAKE: Sql = sql(concat!(WOKEN, FIRST_PENDING));
const WAKE_ALL_OF: Sql = sql(concat!(WOKEN, " AND webhook_id = $2", FIRST_PENDING));
const WOKEN: &str = "UPDATE webhook_delivery SET due_at = $1 WHERE status = 'pending' AND due_at IS NULL
     AND webhook_id IN (SELECT id FROM webhook WHERE is_active = 1 AND paused_at IS NULL)";
const FIRST_PENDING: &str =
    " AND NOT EXISTS (SELECT 1 FROM webhook_delivery AS before WHERE before.webhook_id = webhook_delivery.webhook_id
        AND before.key = webhook_delivery.key AND before.status = 'pending' AND before.seq < webhook_delivery.seq)";

const REST: Sql = sql("UPDATE webhook_delivery SET due_at = NULL
     WHERE webhook_id = $1 AND status = 'pending' AND due_at IS NOT NULL");

const SETTLE: Sql =
    sql("UPDATE webhook_delivery SET status = $3, attempts = $4, due_at = $5, finished_at = $6
     WHERE id = $1 AND status = 'pending' AND attempts = $2");

const WAKE_NEXT: Sql = sql("UPDATE webhook_delivery SET due_at = $3 WHERE due_at IS NULL AND id = (
        SELECT id FROM webhook_delivery AS next WHERE next.webhook_id = $1 AND next.key = $2 AND next.status = 'pending'
        ORDER BY next.seq LIMIT 1)");

const ADD_ATTEMPT: Sql = sql(Attempt::INSERT);

const NOTE_SUCCESS: Sql =
    sql("UPDATE webhook SET failing_since = NULL WHERE id = $1 AND failing_since IS NOT NULL");

const NOTE_FAILURE: Sql = sql("UPDATE webhook SET failing_since = COALESCE(failing_since, $2),
        paused_at = CASE WHEN COALESCE(failing_since, $2) <= $3 THEN $2 END
     WHERE id = $1 AND paused_at IS NULL RETURNING paused_at");

const FIND: Sql = sql(concat!(Delivery::SELECT, " WHERE webhook_id = $1 AND id = $2"));

const ATTEMPTS: Sql = sql(concat!(Attempt::SELECT, " WHERE delivery_id = $1 ORDER BY created_at, id"));

const REPLAY_ONE: Sql = sql(concat!(REPLAYED, " WHERE webhook_id = $1 AND id = $2"));
const REPLAYED: &str =
    "UPDATE webhook_delivery SET status = 'pending', attempts = 0, due_at = NULL, finished_at = NULL";

const REPLAY_RANGE: Sql = sql_per(
    concat!(
        REPLAYED,
        " WHERE webhook_id = $1 AND created_at >= $2 AND created_at < $3 AND ($4 IS NULL OR status = $4)"
    ),
    concat!(
        REPLAYED,
        " WHERE webhook_id = $1 AND created_at >= $2 AND created_at < $3 AND ($4::text IS NULL OR status = $4)"
    ),
);

const PURGE: Sql = sql("DELETE FROM webhook_delivery WHERE id IN (
     SELECT id FROM webhook_delivery WHERE created_at < $1 ORDER BY created_at LIMIT $2)");

const FORGET_SECRETS: Sql =
    sql("UPDATE webhook SET previous_secret_encrypted = NULL, previous_secret_ends_at = NULL
     WHERE previous_secret_ends_at <= $1");

super::statement::statements! {
    WEBHOOKS_OF, APPEND, DUE, WAKE, WAKE_ALL_OF, REST, SETTLE, WAKE_NEXT, ADD_ATTEMPT, NOTE_SUCCESS, NOTE_FAILURE, FIND, ATTEMPTS,
    REPLAY_ONE, REPLAY_RANGE, PURGE, FORGET_SECRETS; LIST
}

super::accessor::has!(HasDeliveries::deliveries -> DeliveryRepository);

#[async_trait]
impl DeliveryRepository for SqlTx {
    async fn webhooks_of(&mut self, routers: &[RouterId]) -> Result<Vec<Webhook>, StorageError> {
        self.conn.fetch_all(WEBHOOKS_OF, (Json(routers),)).await
    }

    async fn append(&mut self, new: &[Delivery], now: Timestamp) -> Result<(), StorageError> {
        let rows = new.iter().map(|one| {
            json!([
                one.id,
                one.webhook_id,
                one.event_id,
                one.event_type,
                one.key,
                one.body,
                one.created_at.as_millis()
            ])
        });
        let rows: Vec<serde_json::Value> = rows.collect();
        self.conn.execute(APPEND, (Json(&rows), now)).await.map(drop)
    }

    async fn due(&mut self, now: Timestamp, each: u32, limit: u32) -> Result<Vec<DueDelivery>, StorageError> {
        self.conn.fetch_all(DUE, (now, i64::from(each), i64::from(limit))).await
    }

    async fn wake(&mut self, now: Timestamp) -> Result<u64, StorageError> {
        self.conn.execute(WAKE, (now,)).await
    }

    async fn wake_all_of(&mut self, webhook: &WebhookId, now: Timestamp) -> Result<(), StorageError> {
        self.conn.execute(WAKE_ALL_OF, (now, webhook)).await.map(drop)
    }

    async fn rest(&mut self, webhook: &WebhookId) -> Result<(), StorageError> {
        self.conn.execute(REST, (webhook,)).await.map(drop)
    }

    async fn settle(&mut self, delivery: &Delivery, before: i64) -> Result<bool, StorageError> {
        let Delivery { id, status, attempts, due_at, finished_at, .. } = delivery;
        let settled = (id, before, status, *attempts, *due_at, *finished_at);
        Ok(self.conn.execute(SETTLE, settled).await? > 0)
    }

    async fn wake_next(
        &mut self,
        webhook: &WebhookId,
        key: &str,
        now: Timestamp,
    ) -> Result<(), StorageError> {
        self.conn.execute(WAKE_NEXT, (webhook, key, now)).await.map(drop)
    }

    async fn add_attempt(&mut self, attempt: &Attempt) -> Result<(), StorageError> {
        self.conn.execute(ADD_ATTEMPT, All(attempt)).await.map(drop)
    }

    async fn note_success(&mut self, webhook: &WebhookId) -> Result<(), StorageError> {
        self.conn.execute(NOTE_SUCCESS, (webhook,)).await.map(drop)
    }

    async fn note_failure(
        &mut self,
        webhook: &WebhookId,
        now: Timestamp,
        pause_before: Timestamp,
    ) -> Result<bool, StorageError> {
        let noted: Vec<Option<Timestamp>> =
            self.conn.fetch_column(NOTE_FAILURE, (webhook, now, pause_before)).await?;
        Ok(noted.into_iter().flatten().next().is_some())
    }

    async fn list(
        &mut self,
        webhook: &WebhookId,
        filter: &DeliveryFilter,
        page: &PageRequest,
    ) -> Result<Page<Delivery>, StorageError> {
        let of = (webhook.clone(), filter.clone());
        self.conn.page(&LIST, &of, None, page, Delivery::place).await
    }

    async fn find(&mut self, webhook: &WebhookId, id: &DeliveryId) -> Result<Option<Delivery>, StorageError> {
        self.conn.fetch_optional(FIND, (webhook, id)).await
    }

    async fn attempts(&mut self, id: &DeliveryId) -> Result<Vec<Attempt>, StorageError> {
        self.conn.fetch_all(ATTEMPTS, (id,)).await
    }

    async fn replay_one(&mut self, webhook: &WebhookId, id: &DeliveryId) -> Result<bool, StorageError> {
        Ok(self.conn.execute(REPLAY_ONE, (webhook, id)).await? > 0)
    }

    async fn replay_range(&mut self, webhook: &WebhookId, range: &ReplayRange) -> Result<u64, StorageError> {
        let ReplayRange { from, to, status } = range;
        self.conn.execute(REPLAY_RANGE, (webhook, from.0, to.0, status.as_ref())).await
    }

    async fn purge(&mut self, before: Timestamp, limit: u32) -> Result<u64, StorageError> {
        self.conn.execute(PURGE, (before, i64::from(limit))).await
    }

    async fn forget_secrets(&mut self, now: Timestamp) -> Result<u64, StorageError> {
        self.conn.execute(FORGET_SECRETS, (now,)).await
    }
}
