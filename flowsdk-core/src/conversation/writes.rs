//! What a batch leads to: gathered while it is decided, written at once.

use super::ConversationEvent;
use super::turn::{After, Run, outgoing_row};
use crate::contact::Contact;
use crate::fault::StorageError;
use crate::id::ChatId;
use crate::message::Message;
use crate::session::{FrozenSession, Session, SessionId, SessionWrite};
use crate::store::ConversationTx;
use crate::stream::broker::NewEntry;
use crate::time::Timestamp;

/// Everything to be written for a batch.
#[derive(Default)]
pub(super) struct Writes {
    pub(super) messages: Vec<Message>,
    /// Sessions with the version they were read with; `None` for new ones.
    pub(super) sessions: Vec<(Session, Option<i64>)>,
    pub(super) ended: Vec<SessionId>,
    pub(super) contacts: Vec<Contact>,
    pub(super) closed_chats: Vec<ChatId>,
    pub(super) frozen: Vec<FrozenSession>,
    pub(super) kept: Vec<(SessionId, serde_json::Value)>,
    pub(super) entries: Vec<NewEntry>,
}

impl Writes {
    /// Adds what a run leads to, except for its stream entries.
    pub(super) fn add(&mut self, event: &ConversationEvent, run: Run, expected: Option<i64>, now: Timestamp) {
        let Run {
            mut session,
            contact,
            contact_changed,
            close_chat,
            outgoing,
            after,
        } = run;
        self.messages
            .extend(outgoing.iter().map(|event| outgoing_row(event, &session.chat_id)));
        if contact_changed {
            self.contacts.push(contact);
        }
        if close_chat {
            self.closed_chats.push(session.chat_id.clone());
        }
        if let Some(version) = expected {
            session.version = version + 1;
        }
        match after {
            After::Live => self.sessions.push((session, expected)),
            After::Ended if expected.is_some() => self.ended.push(session.id),
            After::Ended => {}
            After::Frozen(error) => {
                tracing::warn!(session = %session.id, code = error.code, "a session froze");
                metrics::counter!("flowsdk_sessions_frozen").increment(1);
                self.frozen.push(FrozenSession {
                    session_id: session.id.clone(),
                    error,
                    entry: event.to_json(),
                    frozen_at: now,
                });
                self.sessions.push((session, expected));
            }
        }
    }

    /// Writes everything.
    pub(super) async fn write<T: ConversationTx>(self, tx: &mut T) -> Result<(), StorageError> {
        if !self.messages.is_empty() {
            tx.messages().insert_many(&self.messages).await?;
        }
        if !self.sessions.is_empty() {
            let rows: Vec<SessionWrite<'_>> = self
                .sessions
                .iter()
                .map(|(session, expected)| SessionWrite {
                    session,
                    expected: *expected,
                })
                .collect();
            tx.sessions().save_many(&rows).await?;
        }
        if !self.ended.is_empty() {
            tx.sessions()
                .delete_many(&self.ended.iter().collect::<Vec<_>>())
                .await?;
        }
        if !self.contacts.is_empty() {
            tx.contacts()
                .save_many(&self.contacts.iter().collect::<Vec<_>>())
                .await?;
        }
        if !self.closed_chats.is_empty() {
            tx.chats().close_many(&self.closed_chats).await?;
        }
        for frozen in &self.frozen {
            tx.sessions().freeze(frozen).await?;
        }
        for (id, entry) in &self.kept {
            tx.sessions().keep_entry(id, entry).await?;
        }
        if !self.entries.is_empty() {
            tx.outbox().push_many(&self.entries).await?;
        }
        Ok(())
    }
}
