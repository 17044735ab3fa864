//! Everything that belongs to a contact: moved to another one, or deleted.

use flowsdk_core::fault::StorageError;
use flowsdk_core::id::ContactId;
use flowsdk_core::session::SessionId;

use super::SqlTx;
use super::references::{Derived, ends, moves};
use super::statement::{Sql, sql};

static MOVES: Derived = Derived::new(|| moves("contact"));
const MOVE_ROUTERS: Sql = sql("INSERT INTO contact_router (router_id, contact_created_at, contact_id)
     SELECT known.router_id, contact.created_at, contact.id FROM contact_router AS known CROSS JOIN contact
     WHERE known.contact_id = $2 AND contact.id = $1 ON CONFLICT (contact_id, router_id) DO NOTHING
     RETURNING contact_id, router_id");

/// A contact that becomes part of another one takes what webhooks were told of it along, as one that is deleted does.
const FORGET_TOLD: Sql = sql("DELETE FROM webhook_delivery WHERE key = $1");

/// Sessions that froze before their first commit are in `frozen_session` alone, and are the contact's by their names:
/// of the webchat its identity with or without a context, of the phone one of the numbers and its identity. The caller
/// decides whether the text behind an identity is a context. Accounts of social networks have no table.
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

static ENDS: Derived = Derived::new(|| ends("contact"));

/// Aliases, words, identities, opt-ins, traces and routers go with it.
const DELETE: Sql = sql("DELETE FROM contact WHERE id = $1");

super::statement::statements! { MOVE_ROUTERS, FORGET_TOLD, UNBEGUN, DELETE; MOVES, ENDS }

impl SqlTx {
    /// Moves the rows of `from` to `into`, and deletes `from`.
    pub(super) async fn move_everything(
        &mut self,
        into: &ContactId,
        from: &ContactId,
    ) -> Result<(), StorageError> {
        self.note_going(from).await?;
        for moved in MOVES.all() {
            self.conn.execute(moved, (into, from)).await?;
        }
        let known = self.conn.fetch_all(MOVE_ROUTERS, (into, from)).await?;
        self.note_known(known);
        self.conn.execute(FORGET_TOLD, (from,)).await?;
        self.conn.execute(DELETE, (from,)).await?;
        Ok(())
    }

    /// Deletes a contact with its chats, messages and sessions.
    pub(super) async fn delete_everything(&mut self, contact: &ContactId) -> Result<(), StorageError> {
        self.note_going(contact).await?;
        let found = self.conn.fetch_all::<(SessionId, String)>(UNBEGUN, (contact,)).await?;
        let mut unbegun = Vec::with_capacity(found.len());
        for (session, identity) in found {
            if session.contact_identity() == identity {
                unbegun.push(session);
            }
        }
        self.conn.end_dependants(&unbegun).await?;
        for ended in ENDS.all() {
            self.conn.execute(ended, (contact,)).await?;
        }
        self.conn.execute(DELETE, (contact,)).await?;
        Ok(())
    }
}
