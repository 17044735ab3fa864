//! Summaries of tickets and chats.

use async_trait::async_trait;
use flowsdk_agent::summary::{HasSummaries, SummaryRepository, SummarySubject};
use flowsdk_core::event::SummaryRequest;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{ContactId, RouterId};
use flowsdk_core::time::Timestamp;

use super::SqlTx;
use super::statement::{Sql, sql, sql_locking};

/// The tickets that went on as this one are part of it: those of agents, and those that were transferred. So is what led to
/// the first of them: what was said since the ticket before it, or in the ten minutes before it.
const TICKET: Sql = sql("WITH RECURSIVE part (id, previous_ticket_id, created_at, nth) AS (
        SELECT id, previous_ticket_id, created_at, 0 FROM ticket WHERE id = $1
        UNION ALL SELECT before.id, before.previous_ticket_id, before.created_at, part.nth + 1
        FROM part JOIN ticket AS before ON before.id = part.previous_ticket_id
        WHERE part.nth < 100 AND (before.close_kind IN ('agent_transfer', 'queue_transfer')
            OR (before.kind = 'ai' AND before.close_kind = 'system')))
     SELECT ticket.router_id, (SELECT COALESCE(before.closed_at, part.created_at - 600000)
            FROM part LEFT JOIN ticket AS before ON before.id = part.previous_ticket_id
            ORDER BY part.nth DESC LIMIT 1),
        CASE WHEN ticket.summary IS NULL THEN 0 ELSE 1 END
     FROM ticket WHERE ticket.id = $1 AND ticket.chat_id = $2");

const CHAT: Sql = sql("SELECT router_id, created_at, CASE WHEN summary IS NULL THEN 0 ELSE 1 END FROM chat
     WHERE id = $1 AND router_id IS NOT NULL");

const LOCK_CONTACT: Sql =
    sql_locking!("SELECT id FROM contact WHERE id = (SELECT contact_id FROM chat WHERE id = $1)");

const WRITE_TICKET: Sql = sql("UPDATE ticket SET summary = $2 WHERE id = $1 AND summary IS NULL");

const WRITE_CHAT: Sql = sql("UPDATE chat SET summary = $2 WHERE id = $1 AND summary IS NULL");

/// The contact of the chat: the one of the request may have been merged with another one.
const WRITE_CONTACT: Sql = sql("UPDATE contact SET last_session_summary = $2, last_session_summary_at = $3
     WHERE id = (SELECT contact_id FROM chat WHERE id = $1)
     AND (last_session_summary_at IS NULL OR last_session_summary_at < $3)");

super::statement::statements! { TICKET, CHAT, LOCK_CONTACT, WRITE_TICKET, WRITE_CHAT, WRITE_CONTACT }

super::accessor::has!(HasSummaries::summaries -> SummaryRepository);

#[async_trait]
impl SummaryRepository for SqlTx {
    async fn subject(&mut self, request: &SummaryRequest) -> Result<Option<SummarySubject>, StorageError> {
        let found: Option<(RouterId, Timestamp, bool)> = match &request.ticket_id {
            Some(ticket) => self.conn.fetch_optional(TICKET, (ticket, &request.chat_id)).await?,
            None => self.conn.fetch_optional(CHAT, (&request.chat_id,)).await?,
        };
        let subject = |(router_id, since, has_summary)| SummarySubject { router_id, since, has_summary };
        Ok(found.map(subject))
    }

    async fn write(&mut self, request: &SummaryRequest, summary: &str) -> Result<(), StorageError> {
        // As whoever deletes a contact does: the contact first, and then what is of them.
        self.conn.fetch_column::<ContactId>(LOCK_CONTACT, (&request.chat_id,)).await?;
        let written = match &request.ticket_id {
            Some(ticket) => self.conn.execute(WRITE_TICKET, (ticket, summary)).await?,
            None => self.conn.execute(WRITE_CHAT, (&request.chat_id, summary)).await?,
        };
        if written > 0 {
            self.conn.execute(WRITE_CONTACT, (&request.chat_id, summary, request.timestamp)).await?;
        }
        Ok(())
    }
}
