//! The note.

use std::sync::Arc;

use flowsdk_core::id::{ChatId, Id, RouterId, TicketId, UserId};
use flowsdk_core::page::Cursor;
use flowsdk_core::schema::SchemaAttributes;
use flowsdk_core::time::{IsoTime, Timestamp};
use serde::{Deserialize, Serialize};

/// Identifier of a note.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Id)]
pub struct NoteId(Arc<str>);

/// A note on a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the view says it")]
pub struct Note {
    pub id: NoteId,
    pub router_id: RouterId,
    pub chat_id: ChatId,
    pub ticket_id: TicketId,
    pub author_user_id: UserId,
    pub text: String,
    pub mentioned_user_ids: Vec<UserId>,
    pub created_at: Timestamp,
}

impl Note {
    /// Returns its place in lists.
    pub fn place(&self) -> Cursor {
        Cursor::of(self.created_at, &self.id)
    }
}

/// A note on a conversation, for agents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = Note)]
pub struct NoteView {
    /// The id of the note.
    pub id: NoteId,
    /// The chat of the conversation.
    pub chat_id: ChatId,
    /// The ticket on which it was written.
    pub ticket_id: TicketId,
    /// The user who wrote it.
    pub author_user_id: UserId,
    /// What they wrote.
    #[schema(example = "They have paid twice.")]
    pub text: String,
    /// The users whom it is for.
    pub mentioned_user_ids: Vec<UserId>,
    /// When it was written.
    pub created_at: IsoTime,
}

impl From<Note> for NoteView {
    fn from(note: Note) -> Self {
        Self {
            id: note.id,
            chat_id: note.chat_id,
            ticket_id: note.ticket_id,
            author_user_id: note.author_user_id,
            text: note.text,
            mentioned_user_ids: note.mentioned_user_ids,
            created_at: IsoTime(note.created_at),
        }
    }
}

/// A new note.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = CreateNote)]
pub struct NewNote {
    /// What is to be known.
    #[schema(min_length = 1, max_length = 4_096, pattern = r"\S", example = "They have paid twice.")]
    pub text: String,
    /// The users whom it is for: agents of the router.
    #[serde(default)]
    #[schema(required = false, max_items = 20)]
    pub mentioned_user_ids: Vec<UserId>,
}
