//! Everything that belongs to a contact: moved to another one, or deleted.

use flowsdk_core::fault::StorageError;
use flowsdk_core::id::ContactId;

use super::SqlTx;
use super::executor::execute;
use super::statement::{Sql, sql};

const MOVE_CHATS: Sql = sql("UPDATE chat SET contact_id = $1 WHERE contact_id = $2");
const MOVE_SESSIONS: Sql =
    sql("UPDATE session SET contact_id = $1, version = version + 1 WHERE contact_id = $2");
const MOVE_ALIASES: Sql = sql("UPDATE contact_alias SET contact_id = $1 WHERE contact_id = $2");
const MOVE_OPT_INS: Sql = sql("UPDATE contact_opt_in SET contact_id = $1 WHERE contact_id = $2");
const MOVE_IDENTITIES: Sql = sql("UPDATE webchat_identity SET contact_id = $1 WHERE contact_id = $2");
const MOVE_EVENTS: Sql = sql("UPDATE flow_event SET contact_id = $1 WHERE contact_id = $2");
const MOVE_TRACES: Sql = sql("UPDATE session_trace SET contact_id = $1 WHERE contact_id = $2");
const MOVE_ROUTERS: Sql = sql("INSERT INTO contact_router (router_id, contact_created_at, contact_id)
     SELECT known.router_id, contact.created_at, contact.id FROM contact_router AS known CROSS JOIN contact
     WHERE known.contact_id = $2 AND contact.id = $1 ON CONFLICT (contact_id, router_id) DO NOTHING");

const DELETE_FROZEN: Sql =
    sql("DELETE FROM frozen_session WHERE session_id IN (SELECT id FROM session WHERE contact_id = $1)");
const DELETE_KEPT: Sql =
    sql("DELETE FROM kept_entry WHERE session_id IN (SELECT id FROM session WHERE contact_id = $1)");
const DELETE_SESSIONS: Sql = sql("DELETE FROM session WHERE contact_id = $1");
const DELETE_EVENTS: Sql = sql("DELETE FROM flow_event WHERE contact_id = $1");
const DELETE_MESSAGES: Sql =
    sql("DELETE FROM message WHERE chat_id IN (SELECT id FROM chat WHERE contact_id = $1)");
const DELETE_CHATS: Sql = sql("DELETE FROM chat WHERE contact_id = $1");
/// Aliases, words, identities, opt-ins, traces and routers go with it.
const DELETE: Sql = sql("DELETE FROM contact WHERE id = $1");

super::statement::statements! {
    MOVE_CHATS, MOVE_SESSIONS, MOVE_ALIASES, MOVE_OPT_INS, MOVE_IDENTITIES, MOVE_EVENTS, MOVE_TRACES,
    MOVE_ROUTERS, DELETE_FROZEN, DELETE_KEPT, DELETE_SESSIONS, DELETE_EVENTS, DELETE_MESSAGES, DELETE_CHATS, DELETE
}

impl SqlTx {
    /// Moves what is `from`'s to `into`, and deletes `from`.
    pub(super) async fn move_everything(
        &mut self,
        into: &ContactId,
        from: &ContactId,
    ) -> Result<(), StorageError> {
        for moved in [
            MOVE_CHATS,
            MOVE_SESSIONS,
            MOVE_ALIASES,
            MOVE_OPT_INS,
            MOVE_IDENTITIES,
            MOVE_EVENTS,
            MOVE_TRACES,
            MOVE_ROUTERS,
        ] {
            execute!(self.conn, moved, into.as_str(), from.as_str())?;
        }
        execute!(self.conn, DELETE, from.as_str())?;
        Ok(())
    }

    /// Deletes a contact with its chats, messages and sessions.
    pub(super) async fn delete_everything(&mut self, contact: &ContactId) -> Result<(), StorageError> {
        for deleted in [
            DELETE_FROZEN,
            DELETE_KEPT,
            DELETE_SESSIONS,
            DELETE_EVENTS,
            DELETE_MESSAGES,
            DELETE_CHATS,
            DELETE,
        ] {
            execute!(self.conn, deleted, contact.as_str())?;
        }
        Ok(())
    }
}
