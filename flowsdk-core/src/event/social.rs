//! `stream:social-comments`, `stream:social-activations`.

use serde::{Deserialize, Serialize};

use crate::session::Channel;
use crate::time::Timestamp;

/// A comment on a post or a live broadcast (spec B 4.6).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CommentEvent {
    /// Always the social channel.
    pub channel_type: Channel,
    /// The webhook field it came in.
    pub source: CommentSource,
    /// The account whose post was commented.
    pub ig_user_id: String,
    /// The provider's id of the comment.
    pub comment_id: String,
    /// The comment it replies to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<String>,
    /// The post or broadcast.
    pub media_id: String,
    /// The text of the comment.
    pub text: String,
    /// Its author; empty where the provider names none, and such a comment is ignored.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub from_id: String,
    /// The author's user name, if the provider names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_username: Option<String>,
    /// When the gateway took it.
    pub timestamp: Timestamp,
}

/// The webhook field of a comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommentSource {
    /// A comment below a post.
    Comments,
    /// During a live broadcast.
    LiveComments,
}

/// A comment that set off a trigger, for the append-only log of activations (spec B 2.2). The log
/// keeps one a pair of account and comment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ActivationEvent {
    /// The Instagram id of the account.
    pub ig_user_id: String,
    /// The trigger, which may be gone when this is read.
    pub trigger_id: String,
    /// The post or broadcast.
    pub media_id: String,
    /// The provider's id of the comment.
    pub comment_id: String,
    /// The Instagram-scoped id of the author.
    pub commenter_igsid: String,
    /// The keyword that matched.
    pub matched_keyword: String,
    /// Whether the opening was sent as a direct message.
    pub dm_dispatched: bool,
    /// Whether a public reply was sent.
    pub public_reply_dispatched: bool,
    /// When the comment set off the trigger.
    pub timestamp: Timestamp,
}
