//! Everything that belongs to a contact: moved to another one, or deleted.

use flowsdk_core::cell::Json;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::ContactId;
use flowsdk_core::session::SessionId;

use super::SqlTx;
use super::statement::{Sql, sql, sql_list};

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

/// Sessions that froze before their first commit are in `frozen_session` alone, and are the contact's by their names:
/// of the webchat its identity with or without a context, of the phone one of the numbers and its identity. Of what
/// stands behind an identity the caller decides whether it is a context. Accounts of social networks have no table.
const UNBEGUN: Sql = sql("WITH identity (name) AS (
        SELECT phone_number FROM contact WHERE id = $1
        UNION SELECT alias FROM contact_alias WHERE contact_id = $1
        UNION SELECT contact_identity FROM webchat_identity WHERE contact_id = $1),
     named (id, name) AS (
        SELECT name, name FROM identity
        UNION ALL SELECT 'wa-' || channel_number.phone_number_id || '-' || identity.name, identity.name
        FROM identity CROSS JOIN channel_number),
     found (id, name) AS (
        SELECT frozen_session.session_id, named.name FROM named CROSS JOIN frozen_session
        WHERE frozen_session.session_id = named.id
        UNION ALL SELECT frozen_session.session_id, identity.name FROM identity CROSS JOIN frozen_session
        WHERE frozen_session.session_id >= identity.name || '-ctx'
            AND frozen_session.session_id < identity.name || '-cty')
     SELECT found.id, found.name FROM found
     WHERE NOT EXISTS (SELECT 1 FROM session WHERE session.id = found.id)");

const UNFREEZE: Sql = sql_list!("DELETE FROM frozen_session WHERE session_id IN ", "$1", "");
const DROP_KEPT: Sql = sql_list!("DELETE FROM kept_entry WHERE session_id IN ", "$1", "");

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
    MOVE_ROUTERS, UNBEGUN, UNFREEZE, DROP_KEPT, DELETE_FROZEN, DELETE_KEPT, DELETE_SESSIONS, DELETE_EVENTS, DELETE_MESSAGES, DELETE_CHATS, DELETE
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
            self.conn.execute(moved, (into, from)).await?;
        }
        self.conn.execute(DELETE, (from,)).await?;
        Ok(())
    }

    /// Deletes a contact with its chats, messages and sessions.
    pub(super) async fn delete_everything(&mut self, contact: &ContactId) -> Result<(), StorageError> {
        let found = self.conn.fetch_all::<(SessionId, String)>(UNBEGUN, (contact,)).await?;
        let mut unbegun = Vec::with_capacity(found.len());
        for (session, identity) in found {
            if session.contact_identity() == identity {
                unbegun.push(session);
            }
        }
        if !unbegun.is_empty() {
            self.conn.execute(UNFREEZE, (Json(&unbegun),)).await?;
            self.conn.execute(DROP_KEPT, (Json(&unbegun),)).await?;
        }
        for deleted in [
            DELETE_FROZEN,
            DELETE_KEPT,
            DELETE_SESSIONS,
            DELETE_EVENTS,
            DELETE_MESSAGES,
            DELETE_CHATS,
            DELETE,
        ] {
            self.conn.execute(deleted, (contact,)).await?;
        }
        Ok(())
    }
}
