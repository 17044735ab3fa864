//! A message with what it brought.

use crate::media::ShownMedia;
use crate::message::Message;

/// A message of a chat.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatMessage {
    /// The message. Files of ours have links in its content.
    pub message: Message,
    /// The file that a message of the contact brought.
    pub media: Option<ShownMedia>,
}
