//! The records that flows leave for others to read.

use super::ConversationTx;
use crate::chat::ChatTag;
use crate::contact::{ContactOptIn, OptInSource, OptInStatus};
use crate::context::OpContext;
use crate::fault::StorageError;
use crate::flow::{Effect, TrackedEvent};
use crate::id::MessageId;
use crate::media::{MediaFile, MediaId};
use crate::session::Session;
use crate::time::Timestamp;

/// Opt-ins, labels of chats, events and files, to be written at once.
#[derive(Default)]
pub(super) struct Records {
    pub(super) opt_ins: Vec<ContactOptIn>,
    pub(super) tags: Vec<ChatTag>,
    pub(super) events: Vec<TrackedEvent>,
    /// Files that messages of this batch name and whose contents are to be fetched.
    pub(super) files: Vec<MediaFile>,
    /// Files that were uploaded before, with the messages that bring them.
    pub(super) attached: Vec<(MediaId, MessageId)>,
}

impl Records {
    /// Returns whether there is nothing to write.
    pub(super) fn is_empty(&self) -> bool {
        let Self { opt_ins, tags, events, files, attached } = self;
        opt_ins.is_empty() && tags.is_empty() && events.is_empty() && files.is_empty() && attached.is_empty()
    }

    /// Takes an effect of a flow of `session` that is a record; returns any other.
    pub(super) fn note(
        &mut self,
        cx: &OpContext,
        session: &Session,
        now: Timestamp,
        effect: Effect,
    ) -> Option<Effect> {
        match effect {
            Effect::OptIn { accepted } => self.opt_ins.push(ContactOptIn {
                id: cx.ids().next_id(),
                contact_id: session.contact_id.clone(),
                router_id: session.router_id.clone(),
                status: if accepted { OptInStatus::Accepted } else { OptInStatus::Revoked },
                chat_id: Some(session.chat_id.clone()),
                source: OptInSource::Flow,
                recorded_at: now,
            }),
            Effect::Tags(tags) => self.tags.extend(tags.into_iter().map(|tag| ChatTag {
                chat_id: session.chat_id.clone(),
                tag,
                created_at: now,
            })),
            Effect::Track { name, properties, flow_id, block_id } => self.events.push(TrackedEvent {
                id: cx.ids().next_id(),
                router_id: session.router_id.clone(),
                flow_id,
                block_id,
                session_id: session.id.clone(),
                contact_id: session.contact_id.clone(),
                chat_id: session.chat_id.clone(),
                name,
                properties,
                created_at: now,
            }),
            effect => return Some(effect),
        }
        None
    }

    /// Takes those of another run.
    pub(super) fn extend(&mut self, other: Self) {
        self.opt_ins.extend(other.opt_ins);
        self.tags.extend(other.tags);
        self.events.extend(other.events);
        self.files.extend(other.files);
        self.attached.extend(other.attached);
    }

    /// Leaves out what belongs to a message that another batch stores.
    pub(super) fn forget(&mut self, message: &MessageId) {
        self.files.retain(|file| file.message_id.as_ref() != Some(message));
        self.attached.retain(|(_, known)| known != message);
    }

    pub(super) async fn write<T: ConversationTx>(&self, tx: &mut T) -> Result<(), StorageError> {
        let Self { opt_ins, tags, events, files, attached } = self;
        if !opt_ins.is_empty() {
            tx.opt_ins().append_many(opt_ins).await?;
        }
        if !tags.is_empty() {
            tx.chat_tags().add_many(tags).await?;
        }
        if !events.is_empty() {
            tx.tracked_events().append_many(events).await?;
        }
        if !files.is_empty() {
            tx.media().insert_many(files).await?;
        }
        if !attached.is_empty() {
            tx.media().attach(attached).await?;
        }
        Ok(())
    }
}
