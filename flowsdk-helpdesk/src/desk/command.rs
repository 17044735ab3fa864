//! The commands of people.

use flowsdk_core::event::JumpTarget;
use flowsdk_core::id::{BlockId, FlowId, MessageId, QueueId, UserId};
use flowsdk_core::message::ContentMessage;
use flowsdk_core::schema::SchemaAttributes;
use serde::Deserialize;

use crate::tag::TagId;
use crate::ticket::{CloseKind, Closing, TransferTarget};

/// Where a ticket is to go on; exactly one of the two.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TransferTicket {
    /// The user who gets it: an agent of the router.
    pub to_user_id: Option<UserId>,
    /// The queue in which it waits: an active one of the router.
    pub to_queue_id: Option<QueueId>,
}

impl TransferTicket {
    /// Returns the target; `None` if there is not exactly one.
    pub fn target(self) -> Option<TransferTarget> {
        match (self.to_user_id, self.to_queue_id) {
            (Some(user), None) => Some(TransferTarget::User(user)),
            (None, Some(queue)) => Some(TransferTarget::Queue(queue)),
            _ => None,
        }
    }
}

/// How a ticket is closed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct CloseTicket {
    /// Why; the flow reads it as `ticket.exit.key`. The key of an active close reason, where the router has any.
    #[schema(min_length = 1, max_length = 200, pattern = r"\S", example = "solved")]
    pub reason: Option<String>,
    /// The tags of the ticket from now on; those that it has, if they are not given.
    #[schema(max_items = 20)]
    pub tag_ids: Option<Vec<TagId>>,
    /// Where the flow goes on instead of the outputs of its block.
    pub jump_target: Option<GoOnAt>,
}

/// The tags of a ticket.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TagTicket {
    /// All of them.
    #[schema(max_items = 20)]
    pub tag_ids: Vec<TagId>,
}

/// A block of a published flow of the router.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct GoOnAt {
    /// The flow.
    pub flow_id: FlowId,
    /// Its block.
    pub block_id: BlockId,
}

impl CloseTicket {
    /// Returns the close by a user.
    pub(super) fn by(self, user: Option<UserId>) -> Closing {
        let target = self.jump_target.map(|at| JumpTarget { flow_id: at.flow_id, block_id: at.block_id });
        Closing { kind: CloseKind::Resolved, by: user, reason: self.reason, jump_target: target }
    }
}

/// A message of an agent to the contact of a ticket: `text` or `content`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ReplyToContact {
    /// A text. Channels may take less than the longest.
    #[schema(min_length = 1, max_length = 4_096, pattern = r"\S", example = "I have sent you the invoice.")]
    pub text: Option<String>,
    /// A content, as flows have it: `text`, `image`, `audio`, `video`, `document`, `sticker`, `location`, `contacts` or
    /// `reaction`. A file is a link, or the id of an upload.
    #[schema(value_type = Option<Object>, example = json!({ "type": "image", "image": { "link": "https://example.com/a.png" } }))]
    pub content: Option<ContentMessage>,
    /// The newest message of the chat that the agent has seen. The reply is refused if the contact has written after it.
    pub last_seen_message_id: Option<MessageId>,
}

impl ReplyToContact {
    /// Returns a text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), ..Self::default() }
    }

    /// Returns what is sent; `None` if there is not exactly one of the two.
    pub(super) fn into_content(self) -> Option<ContentMessage> {
        match (self.text, self.content) {
            (Some(text), None) => Some(ContentMessage::text(text)),
            (None, content) => content,
            (Some(_), Some(_)) => None,
        }
    }
}
