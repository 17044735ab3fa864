//! The statements alone, by hand, straight on SQLite.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use flowsdk_core::context::OpContext;
use flowsdk_core::event::HelpdeskEvent;
use flowsdk_core::id::QueueId;
use flowsdk_core::session::SessionId;
use flowsdk_core::time::Timestamp;
use flowsdk_helpdesk::ticket::Ticket;
use rusqlite::{Connection, OptionalExtension as _, Transaction, TransactionBehavior, params};

use super::Picked;
use super::floor::{Agent, EPOCH, Floor};
use super::raw::{Claimed, deal, given, opened, payload};

/// The oldest of each queue, the oldest of these, and all that changes of it.
const CLAIM: &str = "UPDATE ticket SET status = 'assigned', assigned_user_id = ?2, assigned_at = ?3, updated_at = ?3
     WHERE id = (SELECT oldest.id FROM json_each(?1) AS queue JOIN ticket AS oldest ON oldest.id = (
                SELECT first.id FROM ticket AS first WHERE first.queue_id = queue.value AND first.status = 'waiting'
                AND first.offered_user_id IS NULL ORDER BY first.created_at, first.id LIMIT 1)
            ORDER BY oldest.created_at, oldest.id LIMIT 1)
     RETURNING id, chat_id, contact_id, session_id, queue_id, created_at";

const ALLOT: &str = "INSERT INTO desk_seq (user_id, last) VALUES (?1, 1)
     ON CONFLICT (user_id) DO UPDATE SET last = last + 1 RETURNING last";

const TELL: &str = "INSERT INTO desk_news (user_id, seq, event, payload, created_at)
     VALUES (?1, ?2, 'ticket:assigned', ?3, ?4)";

const WAITS: &str = "SELECT 1 FROM session WHERE id = ?1 AND mode = 'human' AND epoch = ?2";

const OPEN: &str =
    "INSERT INTO ticket (id, kind, router_id, chat_id, contact_id, session_id, queue_id, status,
        opened_by_kind, open_reason, epoch, contact_wrote_at, created_at, updated_at)
     VALUES (?1, 'human', ?2, ?3, ?4, ?5, ?6, 'waiting', 'flow', 'human_handoff', ?7, ?8, ?8, ?8)";

const POINT: &str = "UPDATE session SET version = version + 1,
        state = json_set(state, '$.helpdesk', json_object('ticketId', ?2)) WHERE id = ?1";

const ASSIGN: &str =
    "UPDATE ticket SET status = 'assigned', assigned_user_id = ?2, assigned_at = ?3, updated_at = ?3
     WHERE id = ?1 AND status = 'waiting'";

/// Statements on a SQLite file. There is one writer, so one agent is served after the other.
pub(super) struct RawSqlite {
    connection: Connection,
    cx: OpContext,
    /// Pickups that share a commit.
    group: usize,
    /// Whose turn it is to get a ticket.
    next: usize,
}

impl RawSqlite {
    /// Opens the file with the settings of the store's writer.
    pub(super) fn open(file: &Path, group: usize) -> Result<Self> {
        let connection = Connection::open(file)?;
        connection.busy_timeout(Duration::from_secs(10))?;
        connection.set_prepared_statement_cache_capacity(32);
        connection.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;
             PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -8192; PRAGMA temp_store = memory;",
        )?;
        Ok(Self { connection, cx: OpContext::system(), group, next: 0 })
    }

    /// Every agent picks up `limit` tickets, or as many as there are. Who was served asks again at once, and waits for all
    /// others.
    pub(super) fn pick_up(&mut self, floor: &Floor, limit: usize) -> Result<Vec<Picked>> {
        let mut picked = Vec::with_capacity(limit * floor.agents.len());
        let queues: Vec<String> = floor
            .agents
            .iter()
            .map(|agent| serde_json::to_string(&agent.queues))
            .collect::<serde_json::Result<_>>()?;
        let all: Vec<(&Agent, &String)> = floor.agents.iter().zip(&queues).collect();
        let mut asked = vec![Instant::now(); all.len()];
        for _ in 0..limit {
            for (group, asked) in all.chunks(self.group).zip(asked.chunks_mut(self.group)) {
                let now = self.cx.now();
                let tx = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
                let mut got = Vec::with_capacity(group.len());
                for (agent, queues) in group {
                    got.push(pick_one(&tx, floor, agent, queues, now)?);
                }
                tx.commit()?;
                for (((agent, _), ticket), asked) in group.iter().zip(got).zip(asked) {
                    let millis = asked.elapsed().as_secs_f64() * 1e3;
                    *asked = Instant::now();
                    let Some(ticket) = ticket else { continue };
                    let (user, ticket) = (agent.user.to_string(), ticket.id.to_string());
                    picked.push(Picked { user, ticket, millis });
                }
            }
        }
        Ok(picked)
    }

    /// Opens the tickets of a batch of handoffs, and gives them to agents.
    pub(super) fn take(&mut self, floor: &Floor, events: &[&HelpdeskEvent]) -> Result<()> {
        let now = self.cx.now();
        let mut tickets = opened(floor, events, &self.cx, now)?;
        let tx = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        {
            let mut waits = tx.prepare_cached(WAITS)?;
            let mut open = tx.prepare_cached(OPEN)?;
            let mut point = tx.prepare_cached(POINT)?;
            for ticket in &tickets {
                let session = ticket.session_id.as_ref().map(SessionId::to_string);
                ensure!(waits.exists(params![session, EPOCH])?, "a session has moved on");
                let of = [&ticket.chat_id.to_string(), &ticket.contact_id.to_string()];
                let queue = ticket.queue_id.as_ref().map(QueueId::as_str);
                let (id, router) = (ticket.id.as_str(), floor.router.as_str());
                let at = now.as_millis();
                open.execute(params![id, router, of[0], of[1], session, queue, EPOCH, at])?;
                point.execute(params![session, id])?;
            }
        }
        tx.commit()?;

        let now = self.cx.now();
        deal(floor, &mut tickets, &mut self.next, now);
        let tx = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for ticket in &tickets {
            let user = ticket.assigned_user_id.as_ref().context("a ticket of nobody")?.as_str();
            let mut assign = tx.prepare_cached(ASSIGN)?;
            let assigned = assign.execute(params![ticket.id.as_str(), user, now.as_millis()])?;
            ensure!(assigned == 1, "a ticket waits no longer");
            tell(&tx, user, ticket, now)?;
        }
        tx.commit()?;
        Ok(())
    }
}

/// One pickup.
fn pick_one(
    tx: &Transaction<'_>,
    floor: &Floor,
    agent: &Agent,
    queues: &str,
    now: Timestamp,
) -> Result<Option<Ticket>> {
    let user = agent.user.as_str();
    let mut claim = tx.prepare_cached(CLAIM)?;
    let read = |row: &rusqlite::Row<'_>| -> rusqlite::Result<Claimed> {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?))
    };
    let claimed = claim.query_row(params![queues, user, now.as_millis()], read).optional()?;
    let Some(claimed) = claimed else { return Ok(None) };
    let ticket = given(floor, agent, claimed, now)?;
    tell(tx, user, &ticket, now)?;
    Ok(Some(ticket))
}

/// Tells whoever has a ticket of it.
fn tell(tx: &Transaction<'_>, user: &str, ticket: &Ticket, now: Timestamp) -> Result<()> {
    let seq: i64 = tx.prepare_cached(ALLOT)?.query_row([user], |row| row.get(0))?;
    let payload = serde_json::to_string(&payload(ticket))?;
    tx.prepare_cached(TELL)?.execute(params![user, seq, payload, now.as_millis()])?;
    Ok(())
}
