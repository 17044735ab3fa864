//! The figures that supervisors watch.

use async_trait::async_trait;
use constcat::concat;
use flowsdk_core::cell::Json;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{QueueId, RouterId, UserId};
use flowsdk_core::time::Timestamp;
use flowsdk_helpdesk::agent::{Person, PresenceStatus};
use flowsdk_helpdesk::monitoring::{HasMonitoring, MonitoringRepository, OpenInQueue, Today};
use flowsdk_helpdesk::ticket::{Ticket, TicketKind, TicketStatus};

use super::SqlTx;
use super::record::Record as _;
use super::statement::{Sql, sql_per};

/// `$1` lists routers; NULL is all.
const WITHIN: &str = "($1 IS NULL OR router_id IN (SELECT value FROM json_each($1)))";
const WITHIN_PG: &str = "($1::jsonb IS NULL OR router_id = ANY(ARRAY(SELECT jsonb_array_elements_text($1))))";

const BY_QUEUE: Sql =
    sql_per(concat!(OPEN, WITHIN, " GROUP BY queue_id"), concat!(OPEN, WITHIN_PG, " GROUP BY queue_id"));
const OPEN: &str = "SELECT queue_id, COUNT(CASE WHEN status = 'waiting' THEN 1 END),
        COUNT(CASE WHEN status = 'assigned' THEN 1 END), MIN(CASE WHEN status = 'waiting' THEN created_at END)
     FROM ticket WHERE status IN ('waiting', 'assigned') AND kind = 'human' AND ";

const BY_USER: Sql = sql_per(
    concat!(LOADS, WITHIN, " GROUP BY assigned_user_id"),
    concat!(LOADS, WITHIN_PG, " GROUP BY assigned_user_id"),
);
const LOADS: &str = "SELECT assigned_user_id, COUNT(*) FROM ticket
     WHERE status = 'assigned' AND assigned_user_id IS NOT NULL AND kind = 'human' AND ";

const AGENTS: Sql = sql_per(concat!(PEOPLE, WITHIN, BY_NAME), concat!(PEOPLE, WITHIN_PG, BY_NAME));
const PEOPLE: &str = "SELECT user_account.id, user_account.name, desk_presence.status
     FROM user_account LEFT JOIN desk_presence
        ON desk_presence.user_id = user_account.id AND desk_presence.until > $2
     WHERE user_account.id IN (SELECT user_id FROM agent WHERE ";
const BY_NAME: &str = ") ORDER BY user_account.name, user_account.id";

const OLDEST: Sql = sql_per(
    concat!(Ticket::SELECT, " WHERE status = $3 AND kind = $2 AND ", WITHIN, BY_AGE),
    concat!(Ticket::SELECT, " WHERE status = $3 AND kind = $2 AND ", WITHIN_PG, BY_AGE),
);
const BY_AGE: &str = " ORDER BY created_at, id LIMIT $4";

/// Whatever happens to a ticket is a change of it.
const SINCE: Sql = sql_per(concat!(CHANGED, WITHIN), concat!(CHANGED, WITHIN_PG));
const CHANGED: &str = "SELECT
        COUNT(CASE WHEN closed_at >= $2 AND close_kind NOT IN ('agent_transfer', 'queue_transfer') THEN 1 END),
        COUNT(CASE WHEN closed_at >= $2 AND close_kind = 'abandoned' THEN 1 END),
        CAST(AVG(CASE WHEN assigned_at >= $2 THEN assigned_at - created_at END) AS BIGINT),
        CAST(AVG(CASE WHEN closed_at >= $2 THEN closed_at - assigned_at END) AS BIGINT),
        CAST(AVG(CASE WHEN first_replied_at >= $2 THEN first_replied_at - created_at END) AS BIGINT)
     FROM ticket WHERE updated_at >= $2 AND kind = 'human' AND ";

super::statement::statements! { BY_QUEUE, BY_USER, AGENTS, OLDEST, SINCE }

super::accessor::has!(HasMonitoring::monitoring -> MonitoringRepository);

#[async_trait]
impl MonitoringRepository for SqlTx {
    async fn open_by_queue(&mut self, only: Option<&[RouterId]>) -> Result<Vec<OpenInQueue>, StorageError> {
        type Row = (QueueId, i64, i64, Option<Timestamp>);
        let rows: Vec<Row> = self.conn.fetch_all(BY_QUEUE, (only.map(Json),)).await?;
        let queue =
            |(queue_id, waiting, assigned, oldest): Row| OpenInQueue { queue_id, waiting, assigned, oldest };
        Ok(rows.into_iter().map(queue).collect())
    }

    async fn open_by_user(&mut self, only: Option<&[RouterId]>) -> Result<Vec<(UserId, i64)>, StorageError> {
        self.conn.fetch_all(BY_USER, (only.map(Json),)).await
    }

    async fn agents(
        &mut self,
        only: Option<&[RouterId]>,
        now: Timestamp,
    ) -> Result<Vec<Person>, StorageError> {
        type Row = (UserId, String, Option<PresenceStatus>);
        let rows: Vec<Row> = self.conn.fetch_all(AGENTS, (only.map(Json), now)).await?;
        let person = |(user_id, name, status): Row| Person {
            user_id,
            name,
            presence: status.unwrap_or(PresenceStatus::Offline),
        };
        Ok(rows.into_iter().map(person).collect())
    }

    async fn oldest(
        &mut self,
        only: Option<&[RouterId]>,
        kind: TicketKind,
        status: TicketStatus,
        limit: u32,
    ) -> Result<Vec<Ticket>, StorageError> {
        self.conn.fetch_all(OLDEST, (only.map(Json), &kind, &status, i64::from(limit))).await
    }

    async fn since(&mut self, only: Option<&[RouterId]>, since: Timestamp) -> Result<Today, StorageError> {
        type Row = (i64, i64, Option<i64>, Option<i64>, Option<i64>);
        let row: Option<Row> = self.conn.fetch_optional(SINCE, (only.map(Json), since)).await?;
        let today = |(closed, abandoned, avg_queue_ms, avg_service_ms, avg_first_response_ms): Row| Today {
            closed,
            abandoned,
            avg_queue_ms,
            avg_service_ms,
            avg_first_response_ms,
        };
        Ok(row.map(today).unwrap_or_default())
    }
}
