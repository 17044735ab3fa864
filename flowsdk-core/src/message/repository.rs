//! Storage of messages.

use async_trait::async_trait;

use super::{Message, MessageStatus, NewMessage, Page, StatusError};
use crate::fault::StorageError;
use crate::id::{ChatId, MessageId};
use crate::session::SessionId;
use crate::time::Timestamp;

/// The outcome of an insertion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Inserted {
    /// The message was stored now.
    New,
    /// One with the same key was there before; this is its id.
    Duplicate(MessageId),
}

/// A page of a chat's history.
#[derive(Debug, Clone)]
pub struct HistoryQuery<'a> {
    /// The id of the chat.
    pub chat_id: &'a ChatId,
    /// Rows before this [`Message::seq`]; `None` for the newest.
    pub before: Option<i64>,
    /// Most rows of the page.
    pub limit: u32,
}

/// A status to apply.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct StatusWrite {
    pub id: MessageId,
    pub status: MessageStatus,
    /// When the status was reached.
    pub at: Timestamp,
    /// The session that the message must be of; `None` where the reporter is trusted.
    pub session: Option<SessionId>,
    /// Why it failed; of [`MessageStatus::Failed`] alone.
    pub error: Option<StatusError>,
}

/// A status that a message has come to.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct StatusReached {
    pub id: MessageId,
    pub chat_id: ChatId,
    /// Its place in the chat.
    pub seq: i64,
    pub session_id: SessionId,
    pub status: MessageStatus,
    /// When the status was reached.
    pub at: Timestamp,
    /// Why it failed.
    pub error: Option<StatusError>,
}

/// A status of a message whose provider id is not known yet (rulings C4).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParkedStatus {
    /// The provider's id of the message.
    pub provider_id: String,
    /// How far it came.
    pub status: MessageStatus,
    /// When the status was reached.
    pub at: Timestamp,
    /// Why it failed.
    pub error: Option<StatusError>,
    /// The number that the message must be of; empty where the reporter is trusted.
    pub phone_number_id: String,
    /// When it was parked.
    pub parked_at: Timestamp,
}

/// Messages of one transaction.
#[async_trait]
pub trait MessageRepository: Send {
    /// Which of these keys ([`Message::channel_message_id`]) are stored already, with the id of their row.
    async fn find_by_channel_ids(
        &mut self,
        keys: &[String],
    ) -> Result<Vec<(String, MessageId)>, StorageError>;

    /// The [`Message::seq`] of the newest message of each of these chats; 0 for one without messages.
    async fn last_numbers(&mut self, chats: &[ChatId]) -> Result<Vec<(ChatId, i64)>, StorageError>;

    /// Stores messages. Each chat numbers its own in the order given, behind all that it has.
    ///
    /// Returns the [`Message::seq`] of each, in order.
    ///
    /// # Errors
    /// [`StorageError::Unique`] when an id or a channel message id is there already. [`StorageError::Stale`] when
    /// another transaction has taken a number of the same chat meanwhile: the same work succeeds when tried again.
    async fn insert_many(&mut self, messages: &[NewMessage]) -> Result<Vec<i64>, StorageError>;

    /// Notes the provider's ids of outgoing messages. The first one of a message counts.
    async fn note_provider_ids(&mut self, ids: &[(MessageId, String)]) -> Result<(), StorageError>;

    /// Returns the messages that have these provider ids, with their sessions.
    async fn find_by_provider_ids(
        &mut self,
        ids: &[String],
    ) -> Result<Vec<(String, MessageId, SessionId)>, StorageError>;

    /// Returns the sessions of these messages.
    async fn sessions_of(&mut self, ids: &[MessageId]) -> Result<Vec<(MessageId, SessionId)>, StorageError>;

    /// Returns those of these messages that people have sent, with their sessions and how far they came.
    async fn sent_by_people(
        &mut self,
        ids: &[MessageId],
    ) -> Result<Vec<(MessageId, SessionId, MessageStatus)>, StorageError>;

    /// Keeps statuses until [`take_parked`](Self::take_parked). One that is kept already stays as it is.
    async fn park(&mut self, statuses: &[ParkedStatus]) -> Result<(), StorageError>;

    /// Removes the parked statuses of these provider ids, each with the number of its message, and returns them: those that
    /// were told of that number, or of none.
    async fn take_parked(&mut self, ids: &[(String, String)]) -> Result<Vec<ParkedStatus>, StorageError>;

    /// Deletes statuses that were parked before `before`; returns their number.
    async fn drop_parked(&mut self, before: Timestamp) -> Result<u64, StorageError>;

    /// Applies statuses by rank (rulings C4): a lower or equal one changes nothing. Returns the statuses that messages have
    /// come to by this, those of a message in their order.
    async fn apply_statuses(&mut self, writes: &[StatusWrite]) -> Result<Vec<StatusReached>, StorageError>;

    /// Returns a page of a chat, newest first by [`Message::seq`].
    async fn history(&mut self, query: &HistoryQuery<'_>) -> Result<Page<Message>, StorageError>;

    /// Returns the outgoing messages of a session in its chat after the message `after`, oldest first, at most the
    /// `limit` newest. They are all, if `after` is `None` or no message of this session and chat.
    async fn outgoing_since(
        &mut self,
        session: &SessionId,
        chat: &ChatId,
        after: Option<&MessageId>,
        limit: u32,
    ) -> Result<Vec<Message>, StorageError>;

    /// Returns the outgoing messages of a session behind its message `message`, in the chat of that one, oldest first,
    /// at most the `limit` newest; `None` while it is not stored.
    async fn answers_to(
        &mut self,
        session: &SessionId,
        message: &MessageId,
        limit: u32,
    ) -> Result<Option<Vec<Message>>, StorageError>;

    /// Returns whether a chat has messages of its contact behind its message `last`; `None` if that is none of the chat.
    async fn is_heard_after(&mut self, chat: &ChatId, last: &MessageId)
    -> Result<Option<bool>, StorageError>;

    /// Returns the ids of the `limit` newest outgoing messages of a session in its chat up to and with `last`;
    /// none, if it is no message of this session and chat.
    async fn outgoing_until(
        &mut self,
        session: &SessionId,
        chat: &ChatId,
        last: &MessageId,
        limit: u32,
    ) -> Result<Vec<MessageId>, StorageError>;
}

/// A transaction with messages.
pub trait HasMessages: Send {
    /// Returns the repository of this transaction.
    fn messages(&mut self) -> &mut dyn MessageRepository;
}
