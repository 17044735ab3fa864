//! Boards of the helpdesk.

use async_trait::async_trait;
use constcat::concat;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{QueueId, RouterId, UserId};
use flowsdk_core::time::Timestamp;
use flowsdk_helpdesk::board::{BoardFilter, BoardRepository, HasBoard, TicketCount};
use flowsdk_helpdesk::ticket::{Ticket, TicketStatus};

use super::SqlTx;
use super::record::Record as _;
use super::statement::{Sql, sql, sql_per};

const OPEN_COUNTS: Sql = sql("SELECT queue_id, assigned_user_id, status, COUNT(*) FROM ticket
     WHERE router_id = $1 AND status IN ('waiting', 'assigned') AND kind = 'human'
     GROUP BY queue_id, assigned_user_id, status");

/// Whatever happens to a ticket is a change of it.
const CLOSED: &str =
    "status = 'closed' AND kind = 'human' AND close_kind NOT IN ('agent_transfer', 'queue_transfer')
     AND router_id = $1 AND updated_at >= $2 AND closed_at >= $2";

const CLOSED_COUNTS: Sql = sql(concat!(
    "SELECT queue_id, assigned_user_id, status, COUNT(*) FROM ticket WHERE ",
    CLOSED,
    " GROUP BY queue_id, assigned_user_id, status"
));

/// `$2` is a queue and `$3` a user; NULL is any.
const OPEN_TICKETS: Sql = sql_per(
    concat!(
        Ticket::SELECT,
        " WHERE router_id = $1 AND status = $4 AND kind = 'human' AND ($2 IS NULL OR queue_id = $2)
            AND ($3 IS NULL OR assigned_user_id = $3) ORDER BY created_at, id LIMIT $5"
    ),
    concat!(
        Ticket::SELECT,
        " WHERE router_id = $1 AND status = $4 AND kind = 'human' AND ($2::text IS NULL OR queue_id = $2)
            AND ($3::text IS NULL OR assigned_user_id = $3) ORDER BY created_at, id LIMIT $5"
    ),
);

/// `$3` is a queue and `$4` a user; NULL is any.
const CLOSED_TICKETS: Sql = sql_per(
    concat!(
        Ticket::SELECT,
        " WHERE ",
        CLOSED,
        " AND ($3 IS NULL OR queue_id = $3) AND ($4 IS NULL OR assigned_user_id = $4)
         ORDER BY closed_at DESC, id DESC LIMIT $5"
    ),
    concat!(
        Ticket::SELECT,
        " WHERE ",
        CLOSED,
        " AND ($3::text IS NULL OR queue_id = $3) AND ($4::text IS NULL OR assigned_user_id = $4)
         ORDER BY closed_at DESC, id DESC LIMIT $5"
    ),
);

const QUEUES: Sql = sql("SELECT id, name, is_active FROM queue WHERE router_id = $1 ORDER BY name, id");

super::statement::statements! {
    OPEN_COUNTS, CLOSED_COUNTS, OPEN_TICKETS, CLOSED_TICKETS, QUEUES
}

super::accessor::has!(HasBoard::board -> BoardRepository);

type Counted = (QueueId, Option<UserId>, TicketStatus, i64);

fn counts(rows: Vec<Counted>) -> Vec<TicketCount> {
    let count =
        |(queue_id, user_id, status, count): Counted| TicketCount { queue_id, user_id, status, count };
    rows.into_iter().map(count).collect()
}

#[async_trait]
impl BoardRepository for SqlTx {
    async fn open_counts(&mut self, router: &RouterId) -> Result<Vec<TicketCount>, StorageError> {
        self.conn.fetch_all(OPEN_COUNTS, (router,)).await.map(counts)
    }

    async fn closed_counts(
        &mut self,
        router: &RouterId,
        since: Timestamp,
    ) -> Result<Vec<TicketCount>, StorageError> {
        self.conn.fetch_all(CLOSED_COUNTS, (router, since)).await.map(counts)
    }

    async fn open_tickets(
        &mut self,
        filter: &BoardFilter,
        status: TicketStatus,
        limit: u32,
    ) -> Result<Vec<Ticket>, StorageError> {
        let BoardFilter { router_id, queue_id, assigned_user_id } = filter;
        let asked = (router_id, queue_id.as_ref(), assigned_user_id.as_ref(), &status, i64::from(limit));
        self.conn.fetch_all(OPEN_TICKETS, asked).await
    }

    async fn closed_tickets(
        &mut self,
        filter: &BoardFilter,
        since: Timestamp,
        limit: u32,
    ) -> Result<Vec<Ticket>, StorageError> {
        let BoardFilter { router_id, queue_id, assigned_user_id } = filter;
        let asked = (router_id, since, queue_id.as_ref(), assigned_user_id.as_ref(), i64::from(limit));
        self.conn.fetch_all(CLOSED_TICKETS, asked).await
    }

    async fn queues(&mut self, router: &RouterId) -> Result<Vec<(QueueId, String, bool)>, StorageError> {
        self.conn.fetch_all(QUEUES, (router,)).await
    }
}
