//! The statements alone, by hand: on PostgreSQL, and what they have in common with those on SQLite.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, Result, bail, ensure};
use flowsdk_core::context::OpContext;
use flowsdk_core::event::{HandoffEvent, HelpdeskEvent};
use flowsdk_core::id::TicketId;
use flowsdk_core::session::SessionId;
use flowsdk_core::time::Timestamp;
use flowsdk_helpdesk::news::DeskEvent;
use flowsdk_helpdesk::ticket::{Ticket, TicketStatus};
use serde_json::{Map, Value};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::types::Json;
use sqlx::{ConnectOptions as _, PgPool};
use tokio::task::JoinSet;

use super::Picked;
use super::floor::{Agent, EPOCH, Floor};

/// The connections, as many as the store has for writing.
const CONNECTIONS: u32 = 16;

/// The oldest of each queue, the oldest of these, and all that changes of it.
const CLAIM: &str =
    "UPDATE ticket SET status = 'assigned', assigned_user_id = $2, assigned_at = $3, updated_at = $3
     WHERE id = (SELECT oldest.id FROM unnest($1::text[]) AS queue (id) CROSS JOIN LATERAL (
                SELECT first.id, first.created_at FROM ticket AS first
                WHERE first.queue_id || '' >= queue.id AND first.queue_id || '' <= queue.id
                AND COALESCE(first.offered_user_id, first.status) = 'waiting'
                ORDER BY first.queue_id || '', first.created_at, first.id
                LIMIT 1 FOR UPDATE SKIP LOCKED) AS oldest
            ORDER BY oldest.created_at, oldest.id LIMIT 1)
     RETURNING id, chat_id, contact_id, session_id, queue_id, created_at";

const TELL: &str = "WITH seat AS (
        INSERT INTO desk_seq (user_id, last) VALUES ($1, 1)
        ON CONFLICT (user_id) DO UPDATE SET last = desk_seq.last + 1 RETURNING last)
     INSERT INTO desk_news (user_id, seq, event, payload, created_at)
     SELECT $1, last, 'ticket:assigned', $2, $3 FROM seat";

const LOCK_SESSIONS: &str =
    "SELECT id FROM session WHERE id = ANY($1) AND mode = 'human' AND epoch = $2 ORDER BY id FOR UPDATE";

const OPEN: &str = "INSERT INTO ticket (id, kind, router_id, chat_id, contact_id, session_id, queue_id, status,
        opened_by_kind, open_reason, epoch, contact_wrote_at, created_at, updated_at)
     SELECT new.id, 'human', $1, new.chat, new.contact, new.session, new.queue, 'waiting', 'flow', 'human_handoff',
        $2, $3, $3, $3
     FROM unnest($4::text[], $5::text[], $6::text[], $7::text[], $8::text[]) AS new (id, chat, contact, session, queue)";

const POINT: &str = "UPDATE session SET version = version + 1,
        state = jsonb_set(state, '{helpdesk}', jsonb_build_object('ticketId', new.ticket))
     FROM unnest($1::text[], $2::text[]) AS new (session, ticket) WHERE session.id = new.session";

const LOCK_AGENTS: &str = "SELECT user_id FROM agent WHERE router_id = $1 ORDER BY id FOR UPDATE";

const ASSIGN: &str =
    "UPDATE ticket SET status = 'assigned', assigned_user_id = new.holder, assigned_at = $1, updated_at = $1
     FROM unnest($2::text[], $3::text[]) AS new (id, holder) WHERE ticket.id = new.id AND ticket.status = 'waiting'";

const ALLOT: &str = "INSERT INTO desk_seq (user_id, last)
     SELECT holder, COUNT(*) FROM unnest($1::text[]) AS new (holder) GROUP BY holder ORDER BY holder
     ON CONFLICT (user_id) DO UPDATE SET last = desk_seq.last + excluded.last RETURNING user_id, last";

const TELL_ALL: &str = "INSERT INTO desk_news (user_id, seq, event, payload, created_at)
     SELECT new.holder, new.seq, 'ticket:assigned', new.payload, $1
     FROM unnest($2::text[], $3::bigint[], $4::jsonb[]) AS new (holder, seq, payload)";

/// What a claimed ticket has of its own.
pub(super) type Claimed = (String, String, String, String, String, i64);

/// Returns the ticket of its columns, given to an agent.
pub(super) fn given(floor: &Floor, agent: &Agent, claimed: Claimed, now: Timestamp) -> Result<Ticket> {
    let (id, chat, contact, session, queue, created_at) = claimed;
    let of = (chat.parse()?, contact.parse()?);
    let at = Timestamp::from_millis(created_at);
    let mut ticket = Ticket::opened(id.parse()?, floor.router.clone(), of, queue.parse()?, at);
    ticket.session_id = Some(SessionId::parse(session)?);
    ticket.epoch = Some(EPOCH);
    assign(&mut ticket, agent, now);
    Ok(ticket)
}

/// Gives a ticket to an agent.
fn assign(ticket: &mut Ticket, agent: &Agent, now: Timestamp) {
    ticket.status = TicketStatus::Assigned;
    ticket.assigned_user_id = Some(agent.user.clone());
    ticket.assigned_at = Some(now);
    ticket.updated_at = now;
}

/// Returns what whoever has a ticket is told.
pub(super) fn payload(ticket: &Ticket) -> Map<String, Value> {
    DeskEvent::Assigned(Box::new(ticket.clone())).payload()
}

/// Returns the ticket of each handoff, which waits.
pub(super) fn opened(
    floor: &Floor,
    events: &[&HelpdeskEvent],
    cx: &OpContext,
    now: Timestamp,
) -> Result<Vec<Ticket>> {
    let open = |event: &&HelpdeskEvent| {
        let HelpdeskEvent::Handoff(event) = event else { bail!("no handoff") };
        let HandoffEvent { chat_id, contact, session_id, .. } = event;
        let (id, queue) = (TicketId::generate(cx.ids()), floor.queue_of(event)?.clone());
        let of = (chat_id.clone(), contact.id.clone());
        let mut ticket = Ticket::opened(id, floor.router.clone(), of, queue, now);
        ticket.session_id = Some(session_id.clone());
        ticket.epoch = Some(EPOCH);
        Ok(ticket)
    };
    events.iter().map(open).collect()
}

/// Gives tickets to one agent after the other, and `next` is whose turn it is then.
pub(super) fn deal(floor: &Floor, tickets: &mut [Ticket], next: &mut usize, now: Timestamp) {
    for ticket in tickets {
        assign(ticket, &floor.agents[*next], now);
        *next = (*next + 1) % floor.agents.len();
    }
}

/// Statements on PostgreSQL.
pub(super) struct Raw {
    pool: PgPool,
    cx: OpContext,
    /// Whose turn it is to get a ticket.
    next: usize,
}

impl Raw {
    /// Connects, as the store does.
    pub(super) async fn connect(url: &str) -> Result<Self> {
        let options: PgConnectOptions = url.parse()?;
        let options = options
            .options([("jit", "off"), ("enable_seqscan", "off")])
            .statement_cache_capacity(256)
            .disable_statement_logging();
        let pool = PgPoolOptions::new().max_connections(CONNECTIONS).test_before_acquire(false);
        Ok(Self { pool: pool.connect_with(options).await?, cx: OpContext::system(), next: 0 })
    }

    /// Every agent picks up `limit` tickets, or as many as there are.
    pub(super) async fn pick_up(&self, floor: &Arc<Floor>, limit: usize) -> Result<Vec<Picked>> {
        let mut working = JoinSet::new();
        for number in 0..floor.agents.len() {
            let (pool, cx, floor) = (self.pool.clone(), self.cx.clone(), Arc::clone(floor));
            working.spawn(async move {
                let agent = &floor.agents[number];
                let queues: Vec<&str> = agent.queues.iter().map(|queue| queue.as_str()).collect();
                let mut picked = Vec::with_capacity(limit);
                while picked.len() < limit {
                    let began = Instant::now();
                    let Some(ticket) = pick_one(&pool, &cx, &floor, agent, &queues).await? else { break };
                    let millis = began.elapsed().as_secs_f64() * 1e3;
                    picked.push(Picked {
                        user: agent.user.to_string(),
                        ticket: ticket.id.to_string(),
                        millis,
                    });
                }
                Ok(picked)
            });
        }
        let all: Vec<Result<Vec<Picked>>> = working.join_all().await;
        Ok(all.into_iter().collect::<Result<Vec<_>>>()?.concat())
    }

    /// Opens the tickets of a batch of handoffs, and gives them to agents.
    pub(super) async fn take(&mut self, floor: &Floor, events: &[&HelpdeskEvent]) -> Result<()> {
        let now = self.cx.now();
        let mut tickets = opened(floor, events, &self.cx, now)?;
        let texts = |of: fn(&Ticket) -> String| tickets.iter().map(of).collect::<Vec<String>>();
        let ids = texts(|ticket| ticket.id.to_string());
        let sessions =
            texts(|ticket| ticket.session_id.as_ref().map(SessionId::to_string).unwrap_or_default());
        let mut tx = self.pool.begin().await?;
        let locked: Vec<String> =
            sqlx::query_scalar(LOCK_SESSIONS).bind(&sessions).bind(EPOCH).fetch_all(&mut *tx).await?;
        ensure!(locked.len() == sessions.len(), "a session has moved on");
        let open = sqlx::query(OPEN).bind(floor.router.as_str()).bind(EPOCH).bind(now.as_millis()).bind(&ids);
        let open = open.bind(texts(|ticket| ticket.chat_id.to_string()));
        let open = open.bind(texts(|ticket| ticket.contact_id.to_string())).bind(&sessions);
        open.bind(texts(|ticket| ticket.queue_id.as_ref().map(ToString::to_string).unwrap_or_default()))
            .execute(&mut *tx)
            .await?;
        sqlx::query(POINT).bind(&sessions).bind(&ids).execute(&mut *tx).await?;
        tx.commit().await?;

        let now = self.cx.now();
        deal(floor, &mut tickets, &mut self.next, now);
        let holders: Vec<String> =
            tickets.iter().filter_map(|ticket| Some(ticket.assigned_user_id.as_ref()?.to_string())).collect();
        let mut tx = self.pool.begin().await?;
        sqlx::query(LOCK_AGENTS).bind(floor.router.as_str()).fetch_all(&mut *tx).await?;
        let assign = sqlx::query(ASSIGN).bind(now.as_millis()).bind(&ids).bind(&holders);
        let assigned = assign.execute(&mut *tx).await?.rows_affected();
        ensure!(assigned == ids.len() as u64, "a ticket waits no longer");
        let ends: Vec<(String, i64)> = sqlx::query_as(ALLOT).bind(&holders).fetch_all(&mut *tx).await?;
        let mut last: HashMap<String, i64> = ends.into_iter().collect();
        // From the last number of each agent downwards.
        let mut numbers = Vec::with_capacity(holders.len());
        for holder in &holders {
            let last = last.get_mut(holder).context("an agent without a number")?;
            numbers.push(*last);
            *last -= 1;
        }
        let payloads: Vec<Json<Map<String, Value>>> =
            tickets.iter().map(|ticket| Json(payload(ticket))).collect();
        let tell = sqlx::query(TELL_ALL).bind(now.as_millis()).bind(&holders).bind(&numbers).bind(payloads);
        tell.execute(&mut *tx).await?;
        tx.commit().await?;
        Ok(())
    }

    /// Ends its connections.
    pub(super) async fn close(self) {
        self.pool.close().await;
    }
}

/// One pickup in one commit.
async fn pick_one(
    pool: &PgPool,
    cx: &OpContext,
    floor: &Floor,
    agent: &Agent,
    queues: &[&str],
) -> Result<Option<Ticket>> {
    let now = cx.now();
    let user = agent.user.as_str();
    let mut tx = pool.begin().await?;
    let claim = sqlx::query_as(CLAIM).bind(queues).bind(user).bind(now.as_millis());
    let claimed: Option<Claimed> = claim.fetch_optional(&mut *tx).await?;
    let Some(claimed) = claimed else { return Ok(None) };
    let ticket = given(floor, agent, claimed, now)?;
    let tell = sqlx::query(TELL).bind(user).bind(Json(payload(&ticket))).bind(now.as_millis());
    tell.execute(&mut *tx).await?;
    tx.commit().await?;
    Ok(Some(ticket))
}
