//! Tickets.

use async_trait::async_trait;
use constcat::concat;
use flowsdk_core::cell::Json;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{ChatId, QueueId, RouterId, TicketId, UserId};
use flowsdk_core::page::{Page, PageRequest};
use flowsdk_core::session::SessionId;
use flowsdk_core::time::Timestamp;
use flowsdk_helpdesk::ticket::{HasTickets, Ticket, TicketFilter, TicketRepository};

use super::SqlTx;
use super::bind::Binder;
use super::desk_agent::{LOCK_AGENT, LOCK_AGENTS, LOCK_ONLINE_AGENTS};
use super::list::{self, Filter, ListSql, Together, asked};
use super::record::{Record as _, record};
use super::statement::{RowsSql, Sql, sql, sql_list, sql_locking, sql_per};
use super::ticket_claim::{
    CLAIM_ABANDONED, CLAIM_ENDED_SURVEYS, CLAIM_LOST, CLAIM_OLDEST_FOR, CLAIM_OVERDUE, CLAIM_TO_NOTIFY,
    CLAIM_UNANSWERED, CLAIM_WAITING, UNATTENDED,
};

record! {
    Ticket in "ticket" {
        id, kind, router_id, chat_id, contact_id, session_id, previous_ticket_id, opened_by_kind, open_reason,
        opened_by_user_id, epoch, created_at;
        queue_id, agent_id, status, assigned_user_id, assigned_at, offered_user_id, offer_ends_at,
        passed_by: json_unless_empty, closed_at, closed_by_user_id, close_kind, close_reason, summary,
        sentiment_result: json_or_null, sentiment_history: json_unless_empty, tag_ids: json, first_replied_at,
        service_clocks: json_unless_empty, service_next_at, survey: json_or_null, survey_ends_at,
        handoff_asked_at, contact_wrote_at, updated_at
    }
}

/// Chat, queue and user are of one router each.
pub(super) static LIST: ListSql<TicketFilter> = ListSql::of::<Ticket>()
    .within("router_id")
    .indexed("ticket_newest", "ticket_by_router")
    .filters(&[
        Filter::of("chat_id = {}", |filter: &TicketFilter| asked(&filter.chat_id))
            .indexed("ticket_by_chat", "ticket_by_chat"),
        Filter::of(OF_QUEUE, |filter: &TicketFilter| asked(&filter.queue_id))
            .indexed("ticket_by_queue", "ticket_by_queue"),
        Filter::of(OF_USER, |filter: &TicketFilter| asked(&filter.assigned_user_id))
            .indexed("ticket_by_user", "ticket_by_user"),
        Filter::of(IN_STATUS, |filter: &TicketFilter| asked(&filter.status))
            .indexed("ticket_by_status", "ticket_by_router_status"),
    ])
    .together(&[
        Together::of(&[OF_QUEUE, IN_STATUS], "ticket_by_queue_status", "ticket_by_queue_status"),
        Together::of(&[OF_USER, IN_STATUS], "ticket_by_user_status", "ticket_by_user_status"),
    ]);
const OF_QUEUE: &str = "queue_id = {}";
const OF_USER: &str = "assigned_user_id = {}";
const IN_STATUS: &str = "status = {}";

const FIND: Sql = sql(Ticket::FIND);

const FIND_FOR_UPDATE: Sql = sql_per(Ticket::FIND, Ticket::FIND_FOR_UPDATE);

static INSERT: RowsSql = RowsSql::insert::<Ticket>("");

static SAVE: RowsSql = RowsSql::typed(
    "WITH new (id, queue_id, agent_id, status, assigned_user_id, assigned_at, offered_user_id, offer_ends_at, passed_by,
        closed_at, closed_by_user_id, close_kind, close_reason, summary, sentiment_result, sentiment_history, tag_ids,
        first_replied_at, service_clocks, service_next_at, survey, survey_ends_at, handoff_asked_at, contact_wrote_at,
        updated_at)
     AS (VALUES ",
    &[
        "text", "text", "text", "text", "text", "bigint", "text", "bigint", "jsonb", "bigint", "text", "text", "text",
        "text", "jsonb", "jsonb", "jsonb", "bigint", "jsonb", "bigint", "jsonb", "bigint", "bigint", "bigint", "bigint",
    ],
    ") UPDATE ticket SET
        queue_id = new.queue_id, agent_id = new.agent_id, status = new.status, assigned_user_id = new.assigned_user_id,
        assigned_at = new.assigned_at, offered_user_id = new.offered_user_id, offer_ends_at = new.offer_ends_at,
        passed_by = new.passed_by, closed_at = new.closed_at, closed_by_user_id = new.closed_by_user_id,
        close_kind = new.close_kind, close_reason = new.close_reason, summary = new.summary,
        sentiment_result = new.sentiment_result, sentiment_history = new.sentiment_history, tag_ids = new.tag_ids,
        first_replied_at = new.first_replied_at, service_clocks = new.service_clocks,
        service_next_at = new.service_next_at, survey = new.survey, survey_ends_at = new.survey_ends_at,
        handoff_asked_at = new.handoff_asked_at, contact_wrote_at = new.contact_wrote_at, updated_at = new.updated_at
     FROM new WHERE ticket.id = new.id",
)
.or_one_by_one(Ticket::UPDATE);

/// What [`SAVE`] writes of who has tickets. Indexes of other columns stay as they are.
static SAVE_HOLDERS: RowsSql = RowsSql::typed(
    "WITH new (id, status, assigned_user_id, assigned_at, offered_user_id, offer_ends_at, passed_by, updated_at) AS (VALUES ",
    &["text", "text", "text", "bigint", "text", "bigint", "jsonb", "bigint"],
    ") UPDATE ticket SET
        status = new.status, assigned_user_id = new.assigned_user_id, assigned_at = new.assigned_at,
        offered_user_id = new.offered_user_id, offer_ends_at = new.offer_ends_at, passed_by = new.passed_by,
        updated_at = new.updated_at
     FROM new WHERE ticket.id = new.id",
)
.or_one_by_one(
    "UPDATE ticket SET
        status = ?2, assigned_user_id = ?3, assigned_at = ?4, offered_user_id = ?5, offer_ends_at = ?6, passed_by = ?7,
        updated_at = ?8
     WHERE id = ?1",
);

const OPEN_OF_CHATS: Sql = sql_list!(
    concat!(Ticket::SELECT, " WHERE status <> 'closed' AND kind = 'human' AND chat_id "),
    "$1",
    " ORDER BY id",
    locking
);

/// The second half is empty where no chats are asked for.
const OF_AGENTS: Sql = sql_per(
    concat!(
        Ticket::SELECT,
        " WHERE kind = 'ai' AND (id IN (SELECT value FROM json_each($1))
            OR (status <> 'closed' AND chat_id IN (SELECT value FROM json_each($2)))) ORDER BY id"
    ),
    concat!(
        Ticket::SELECT,
        " WHERE kind = 'ai' AND (id = ANY(ARRAY(SELECT jsonb_array_elements_text($1)))
            OR (status <> 'closed' AND chat_id = ANY(ARRAY(SELECT jsonb_array_elements_text($2)))))
         ORDER BY id FOR UPDATE"
    ),
);

const KNOWN: Sql = sql_list!("SELECT id FROM ticket WHERE id ", "$1", " ORDER BY id");

const KNOWN_HANDOFFS: Sql = sql_list!(
    "SELECT session_id, epoch FROM ticket WHERE open_reason = 'human_handoff' AND epoch IS NOT NULL AND session_id ",
    "$1",
    ""
);

const SESSIONS_WITHOUT: Sql = sql("SELECT session.id FROM session
     WHERE session.mode = 'human' AND session.last_interaction_at < $1
     AND NOT EXISTS (SELECT 1 FROM ticket WHERE ticket.session_id = session.id AND ticket.epoch = session.epoch)
     AND NOT EXISTS (SELECT 1 FROM stuck_handoff WHERE stuck_handoff.session_id = session.id)
     ORDER BY session.id LIMIT $2");

/// `$1` lists `[session, time]`.
const NOTE_CONTACT: Sql = sql_per(
    "UPDATE ticket SET contact_wrote_at = MAX(contact_wrote_at, wrote.value ->> 1) FROM json_each($1) AS wrote
     WHERE ticket.session_id = wrote.value ->> 0 AND ticket.status <> 'closed'
     RETURNING ticket.session_id, ticket.id, ticket.assigned_user_id",
    "UPDATE ticket SET contact_wrote_at = GREATEST(contact_wrote_at, CAST(wrote.value ->> 1 AS bigint))
     FROM jsonb_array_elements($1) AS wrote (value)
     WHERE ticket.session_id = wrote.value ->> 0 AND ticket.status <> 'closed'
     RETURNING ticket.session_id, ticket.id, ticket.assigned_user_id",
);

const ASSIGNED_OF: Sql = sql_list!(
    concat!(Ticket::SELECT, " WHERE status = 'assigned' AND kind = 'human' AND session_id "),
    "$1",
    " ORDER BY id"
);

const SURVEYS_OF: Sql = sql_list!(
    concat!(Ticket::SELECT, " WHERE survey_ends_at IS NOT NULL AND session_id "),
    "$1",
    " AND EXISTS (SELECT 1 FROM session
        WHERE session.id = ticket.session_id AND session.epoch = ticket.epoch AND session.mode = 'human') ORDER BY id",
    locking
);

const COUNT_OPEN_IN: Sql =
    sql("SELECT COUNT(*) FROM ticket WHERE queue_id = $1 AND status IN ('waiting', 'assigned')");

const OPEN_IN: Sql = sql_locking!(concat!(
    Ticket::SELECT,
    " WHERE queue_id = $1 AND status IN ('waiting', 'assigned') ORDER BY id"
));

/// What users have, and what is offered to them. `$1` lists `[router, user]`.
const LOADS: Sql = sql_per(
    concat!(LOADS_OF_EACH, "json_each($1) AS agent"),
    concat!(LOADS_OF_EACH, "jsonb_array_elements($1) AS agent (value)"),
);
const LOADS_OF_EACH: &str = "SELECT agent.value ->> 0, agent.value ->> 1,
        (SELECT COUNT(*) FROM ticket WHERE ticket.router_id = agent.value ->> 0
            AND ticket.status = 'assigned' AND ticket.assigned_user_id = agent.value ->> 1)
        + (SELECT COUNT(*) FROM ticket WHERE ticket.router_id = agent.value ->> 0
            AND ticket.status = 'waiting' AND ticket.offered_user_id = agent.value ->> 1)
     FROM ";

const LOADS_OF: Sql = sql("SELECT router_id, COUNT(*) FROM (
        SELECT router_id FROM ticket WHERE status = 'assigned' AND assigned_user_id = $1
        UNION ALL SELECT router_id FROM ticket WHERE status = 'waiting' AND offered_user_id = $1) AS theirs
     GROUP BY router_id");

const WAITING_IN: Sql = sql_list!(
    "SELECT queue_id, COUNT(*), MIN(created_at) FROM ticket WHERE status = 'waiting' AND queue_id ",
    "$1",
    " GROUP BY queue_id"
);

const TAKEN_IN: Sql = sql_list!(
    "SELECT queue_id, COUNT(*) FROM ticket WHERE assigned_at > $2 AND open_reason <> 'agent_transfer' AND queue_id ",
    "$1",
    " GROUP BY queue_id"
);

const NOTE_NOTIFIED: Sql = sql_list!("UPDATE ticket SET notified_at = $2 WHERE id ", "$1", "");

const POSITIONS: Sql = sql_per(
    "SELECT id, position FROM (
        SELECT id, ROW_NUMBER() OVER (PARTITION BY queue_id ORDER BY created_at, id) AS position FROM ticket
        WHERE status = 'waiting' AND queue_id IN (SELECT value FROM json_each($1))) AS waiting
     WHERE id IN (SELECT value FROM json_each($2))",
    "SELECT id, position FROM (
        SELECT id, ROW_NUMBER() OVER (PARTITION BY queue_id ORDER BY created_at, id) AS position FROM ticket
        WHERE status = 'waiting' AND queue_id = ANY(ARRAY(SELECT jsonb_array_elements_text($1)))) AS waiting
     WHERE id = ANY(ARRAY(SELECT jsonb_array_elements_text($2)))",
);

const QUEUES_TO_DISTRIBUTE: Sql = sql("SELECT id FROM queue WHERE distribution_strategy <> 'manual_pickup'
     AND EXISTS (SELECT 1 FROM ticket WHERE ticket.queue_id = queue.id AND ticket.status = 'waiting') ORDER BY id");

const QUEUES_TO_DISTRIBUTE_TO: Sql = sql(
    "SELECT queue.id FROM agent JOIN queue_agent ON queue_agent.agent_id = agent.id
        JOIN queue ON queue.id = queue_agent.queue_id
     WHERE agent.user_id = $1 AND queue.distribution_strategy <> 'manual_pickup'
     AND EXISTS (SELECT 1 FROM ticket WHERE ticket.queue_id = queue.id AND ticket.status = 'waiting') ORDER BY queue.id",
);

const OFFERED_TO: Sql = sql_locking!(concat!(
    Ticket::SELECT,
    " WHERE offered_user_id = $1 AND status = 'waiting' AND router_id = $2 ORDER BY id"
));

super::statement::statements! {
    FIND, FIND_FOR_UPDATE, OPEN_OF_CHATS, OF_AGENTS, KNOWN, KNOWN_HANDOFFS, SESSIONS_WITHOUT, NOTE_CONTACT, ASSIGNED_OF,
    SURVEYS_OF, COUNT_OPEN_IN, OPEN_IN, LOADS, LOADS_OF, WAITING_IN, TAKEN_IN, NOTE_NOTIFIED, POSITIONS,
    QUEUES_TO_DISTRIBUTE, QUEUES_TO_DISTRIBUTE_TO, OFFERED_TO; INSERT, SAVE, SAVE_HOLDERS, LIST
}

super::accessor::has!(HasTickets::tickets -> TicketRepository);

#[async_trait]
impl TicketRepository for SqlTx {
    async fn list(
        &mut self,
        filter: &TicketFilter,
        only: Option<&[RouterId]>,
        page: &PageRequest,
    ) -> Result<Page<Ticket>, StorageError> {
        let routers = list::routers(filter.router_id.as_ref(), only);
        self.conn.page(&LIST, filter, routers, page, Ticket::place).await
    }

    async fn find(&mut self, id: &TicketId) -> Result<Option<Ticket>, StorageError> {
        self.conn.fetch_optional(FIND, (id,)).await
    }

    async fn find_for_update(&mut self, id: &TicketId) -> Result<Option<Ticket>, StorageError> {
        self.conn.fetch_optional(FIND_FOR_UPDATE, (id,)).await
    }

    async fn insert_many(&mut self, tickets: &[Ticket]) -> Result<(), StorageError> {
        self.conn.insert_rows(&INSERT, tickets).await.map(drop)
    }

    async fn save_many(&mut self, tickets: &[Ticket]) -> Result<(), StorageError> {
        self.conn.execute_rows(&SAVE, tickets, |to, ticket| ticket.bind_changes(to)).await.map(drop)
    }

    async fn save_holders(&mut self, tickets: &[Ticket]) -> Result<(), StorageError> {
        let bind = |to: &mut Binder<'_>, ticket: &Ticket| {
            to.bind(&ticket.id)
                .bind(&ticket.status)
                .bind(&ticket.assigned_user_id)
                .bind(ticket.assigned_at)
                .bind(&ticket.offered_user_id)
                .bind(ticket.offer_ends_at)
                .bind((!ticket.passed_by.is_empty()).then_some(Json(&ticket.passed_by)))
                .bind(ticket.updated_at);
        };
        self.conn.execute_rows(&SAVE_HOLDERS, tickets, bind).await.map(drop)
    }

    async fn open_of_chats_for_update(&mut self, chats: &[ChatId]) -> Result<Vec<Ticket>, StorageError> {
        self.conn.fetch_all(OPEN_OF_CHATS, (Json(chats),)).await
    }

    async fn known(&mut self, ids: &[TicketId]) -> Result<Vec<TicketId>, StorageError> {
        self.conn.fetch_column(KNOWN, (Json(ids),)).await
    }

    async fn of_agents_for_update(
        &mut self,
        ids: &[TicketId],
        chats: &[ChatId],
    ) -> Result<Vec<Ticket>, StorageError> {
        self.conn.fetch_all(OF_AGENTS, (Json(ids), Json(chats))).await
    }

    async fn known_handoffs(
        &mut self,
        sessions: &[SessionId],
    ) -> Result<Vec<(SessionId, i64)>, StorageError> {
        self.conn.fetch_all(KNOWN_HANDOFFS, (Json(sessions),)).await
    }

    async fn sessions_without(
        &mut self,
        before: Timestamp,
        limit: u32,
    ) -> Result<Vec<SessionId>, StorageError> {
        self.conn.fetch_column(SESSIONS_WITHOUT, (before, i64::from(limit))).await
    }

    async fn note_contact(
        &mut self,
        wrote: &[(SessionId, Timestamp)],
    ) -> Result<Vec<(SessionId, TicketId, UserId)>, StorageError> {
        type Row = (SessionId, TicketId, Option<UserId>);
        let wrote: Vec<(&SessionId, i64)> =
            wrote.iter().map(|(session, at)| (session, at.as_millis())).collect();
        let rows: Vec<Row> = self.conn.fetch_all(NOTE_CONTACT, (Json(&wrote),)).await?;
        Ok(rows.into_iter().filter_map(|(session, ticket, user)| Some((session, ticket, user?))).collect())
    }

    async fn surveys_of_for_update(&mut self, sessions: &[SessionId]) -> Result<Vec<Ticket>, StorageError> {
        self.conn.fetch_all(SURVEYS_OF, (Json(sessions),)).await
    }

    async fn claim_ended_surveys(&mut self, now: Timestamp, limit: u32) -> Result<Vec<Ticket>, StorageError> {
        self.conn.fetch_all(CLAIM_ENDED_SURVEYS, (now, i64::from(limit))).await
    }

    async fn assigned_of(&mut self, sessions: &[SessionId]) -> Result<Vec<Ticket>, StorageError> {
        self.conn.fetch_all(ASSIGNED_OF, (Json(sessions),)).await
    }

    async fn count_open_in(&mut self, queue: &QueueId) -> Result<i64, StorageError> {
        let counted: Vec<i64> = self.conn.fetch_column(COUNT_OPEN_IN, (queue,)).await?;
        Ok(counted.into_iter().next().unwrap_or_default())
    }

    async fn open_in_for_update(&mut self, queue: &QueueId) -> Result<Vec<Ticket>, StorageError> {
        self.conn.fetch_all(OPEN_IN, (queue,)).await
    }

    async fn loads(
        &mut self,
        agents: &[(RouterId, UserId)],
    ) -> Result<Vec<(RouterId, UserId, i64)>, StorageError> {
        self.conn.fetch_all(LOADS, (Json(agents),)).await
    }

    async fn loads_of(&mut self, user: &UserId) -> Result<Vec<(RouterId, i64)>, StorageError> {
        self.conn.fetch_all(LOADS_OF, (user,)).await
    }

    async fn claim_waiting(&mut self, queues: &[(QueueId, u32)]) -> Result<Vec<Ticket>, StorageError> {
        self.conn.fetch_all(CLAIM_WAITING, (Json(queues),)).await
    }

    async fn offered_to_for_update(
        &mut self,
        router: &RouterId,
        user: &UserId,
    ) -> Result<Vec<Ticket>, StorageError> {
        self.conn.fetch_all(OFFERED_TO, (user, router)).await
    }

    async fn claim_oldest_for(
        &mut self,
        user: &UserId,
        routers: Option<&[RouterId]>,
        queue: Option<&QueueId>,
    ) -> Result<Option<Ticket>, StorageError> {
        self.conn.fetch_optional(CLAIM_OLDEST_FOR, (user, routers.map(Json), queue)).await
    }

    async fn lock_online_agents(
        &mut self,
        queues: &[QueueId],
        now: Timestamp,
    ) -> Result<Vec<(QueueId, UserId)>, StorageError> {
        self.conn.fetch_all(LOCK_ONLINE_AGENTS, (Json(queues), now)).await
    }

    async fn lock_agent(
        &mut self,
        user: &UserId,
        routers: Option<&[RouterId]>,
    ) -> Result<Vec<RouterId>, StorageError> {
        self.conn.fetch_column(LOCK_AGENT, (user, routers.map(Json))).await
    }

    async fn lock_agents(
        &mut self,
        users: &[(RouterId, UserId)],
    ) -> Result<Vec<(RouterId, UserId)>, StorageError> {
        self.conn.fetch_all(LOCK_AGENTS, (Json(users),)).await
    }

    async fn waiting_in(
        &mut self,
        queues: &[QueueId],
    ) -> Result<Vec<(QueueId, i64, Timestamp)>, StorageError> {
        self.conn.fetch_all(WAITING_IN, (Json(queues),)).await
    }

    async fn taken_in(
        &mut self,
        queues: &[QueueId],
        since: Timestamp,
    ) -> Result<Vec<(QueueId, i64)>, StorageError> {
        self.conn.fetch_all(TAKEN_IN, (Json(queues), since)).await
    }

    async fn claim_to_notify(
        &mut self,
        now: Timestamp,
        active_since: Timestamp,
        limit: u32,
    ) -> Result<Vec<Ticket>, StorageError> {
        self.conn.fetch_all(CLAIM_TO_NOTIFY, (now, active_since, i64::from(limit))).await
    }

    async fn note_notified(&mut self, tickets: &[TicketId], now: Timestamp) -> Result<(), StorageError> {
        self.conn.execute(NOTE_NOTIFIED, (Json(tickets), now)).await.map(drop)
    }

    async fn positions(
        &mut self,
        queues: &[QueueId],
        tickets: &[TicketId],
    ) -> Result<Vec<(TicketId, i64)>, StorageError> {
        self.conn.fetch_all(POSITIONS, (Json(queues), Json(tickets))).await
    }

    async fn queues_to_distribute(&mut self) -> Result<Vec<QueueId>, StorageError> {
        self.conn.fetch_column(QUEUES_TO_DISTRIBUTE, ()).await
    }

    async fn queues_to_distribute_to(&mut self, user: &UserId) -> Result<Vec<QueueId>, StorageError> {
        self.conn.fetch_column(QUEUES_TO_DISTRIBUTE_TO, (user,)).await
    }

    async fn claim_abandoned(&mut self, now: Timestamp, limit: u32) -> Result<Vec<Ticket>, StorageError> {
        self.conn.fetch_all(CLAIM_ABANDONED, (now, i64::from(limit))).await
    }

    async fn claim_overdue(&mut self, now: Timestamp, limit: u32) -> Result<Vec<Ticket>, StorageError> {
        self.conn.fetch_all(CLAIM_OVERDUE, (now, i64::from(limit))).await
    }

    async fn claim_unanswered(&mut self, now: Timestamp, limit: u32) -> Result<Vec<Ticket>, StorageError> {
        self.conn.fetch_all(CLAIM_UNANSWERED, (now, i64::from(limit))).await
    }

    async fn unattended(&mut self, now: Timestamp, limit: u32) -> Result<Vec<Ticket>, StorageError> {
        self.conn.fetch_all(UNATTENDED, (now, i64::from(limit))).await
    }

    async fn claim_lost(&mut self, quiet_since: Timestamp, limit: u32) -> Result<Vec<Ticket>, StorageError> {
        self.conn.fetch_all(CLAIM_LOST, (quiet_since, i64::from(limit))).await
    }
}
