//! The quick reply. Nothing in it is secret, so it is its own public form.

use std::sync::Arc;

use flowsdk_core::id::{Id, IdSource, QueueId, RouterId};
use flowsdk_core::name::Name;
use flowsdk_core::patch::present;
use flowsdk_core::record::{NewRecord, RecordChange, RouterRecord};
use flowsdk_core::router::{Reach, Reachable};
use flowsdk_core::schema::SchemaAttributes;
#[cfg(feature = "schema")]
use flowsdk_core::time::IsoTime;
use flowsdk_core::time::{Timestamp, as_iso};
use serde::{Deserialize, Serialize};

use super::QuickReplyError;

/// Identifier of a quick reply.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Id)]
pub struct QuickReplyId(Arc<str>);

/// A text that the agents of a router send often.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, RouterRecord, SchemaAttributes)]
#[router_record(
    kind = QuickReply, error = QuickReplyError, search = name, unique = ShortcutTaken,
    // Its router was looked for before, so an orphan has no queue.
    orphan = QueueUnknown
)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct QuickReply {
    /// The id of the quick reply.
    pub id: QuickReplyId,
    /// The router whose agents use it. It never changes.
    pub router_id: RouterId,
    /// The name that agents choose it by.
    #[schema(example = "Greeting")]
    pub name: String,
    /// What agents type instead of choosing it; unique in its router.
    #[schema(required = true, example = "hi")]
    pub shortcut: Option<String>,
    /// The text, with placeholders: `{{contact.<name>}}`, `{{context.<name>}}`, `{{system.now}}`.
    #[schema(example = "Hello {{contact.name}}, how can I help?")]
    pub text: String,
    /// The queue whose tickets it is for; null is all.
    #[schema(required = true)]
    pub queue_id: Option<QueueId>,
    /// When it was created.
    #[serde(serialize_with = "as_iso")]
    #[schema(value_type = IsoTime)]
    pub created_at: Timestamp,
    /// When it was last changed.
    #[serde(serialize_with = "as_iso")]
    #[schema(value_type = IsoTime)]
    pub updated_at: Timestamp,
}

/// A new quick reply.
#[derive(Debug, Clone, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = CreateQuickReply)]
pub struct NewQuickReply {
    /// The router whose agents use it. It cannot be changed later.
    pub router_id: RouterId,
    /// The name that agents choose it by.
    #[schema(value_type = String, min_length = 1, max_length = 200, pattern = r"\S", example = "Greeting")]
    pub name: Name,
    /// What agents type instead of choosing it; unique in its router.
    #[schema(min_length = 1, max_length = 50, pattern = r"^\S+$", example = "hi")]
    pub shortcut: Option<String>,
    /// The text, with placeholders: `{{contact.<name>}}`, `{{context.<name>}}`, `{{system.now}}`.
    #[schema(
        min_length = 1,
        max_length = 4_096,
        pattern = r"\S",
        example = "Hello {{contact.name}}, how can I help?"
    )]
    pub text: String,
    /// The queue whose tickets it is for; null is all.
    pub queue_id: Option<QueueId>,
}

impl Reachable for NewQuickReply {
    fn is_within(&self, reach: Reach<'_>) -> bool {
        self.router_id.is_within(reach)
    }
}

impl NewRecord for NewQuickReply {
    type Record = QuickReply;

    fn into_record(self, ids: &dyn IdSource, now: Timestamp) -> QuickReply {
        QuickReply {
            id: QuickReplyId::generate(ids),
            router_id: self.router_id,
            name: self.name.into(),
            shortcut: self.shortcut,
            text: self.text,
            queue_id: self.queue_id,
            created_at: now,
            updated_at: now,
        }
    }
}

/// The changes to make to a quick reply; an absent field stays, and null removes a value.
#[derive(Debug, Clone, Default, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = PatchQuickReply)]
pub struct QuickReplyChange {
    /// The name that agents choose it by.
    #[schema(value_type = String, required = false, min_length = 1, max_length = 200, pattern = r"\S")]
    pub name: Option<Name>,
    /// What agents type instead of choosing it; unique in its router.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 50, pattern = r"^\S+$")]
    pub shortcut: Option<Option<String>>,
    /// The text, with placeholders.
    #[schema(value_type = String, required = false, min_length = 1, max_length = 4_096, pattern = r"\S")]
    pub text: Option<String>,
    /// The queue whose tickets it is for; null is all.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<QueueId>)]
    pub queue_id: Option<Option<QueueId>>,
}

impl RecordChange for QuickReplyChange {
    type Record = QuickReply;

    fn apply(self, reply: QuickReply) -> QuickReply {
        QuickReply {
            name: self.name.map_or(reply.name, String::from),
            shortcut: self.shortcut.unwrap_or(reply.shortcut),
            text: self.text.unwrap_or(reply.text),
            queue_id: self.queue_id.unwrap_or(reply.queue_id),
            ..reply
        }
    }
}

/// A quick reply to the contact of a ticket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ResolvedQuickReply {
    /// The id of the quick reply.
    pub id: QuickReplyId,
    /// The name that agents choose it by.
    #[schema(example = "Greeting")]
    pub name: String,
    /// What agents type instead of choosing it.
    #[schema(required = true, example = "hi")]
    pub shortcut: Option<String>,
    /// The text with the values of its placeholders. One without a value stays as it is.
    #[schema(example = "Hello Ana, how can I help?")]
    pub text: String,
}
