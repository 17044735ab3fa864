//! The events that flows record for reports: the action `trackEvent`.

use async_trait::async_trait;
use serde_json::{Map, Value};

use crate::cell::TextType;
use crate::fault::StorageError;
use crate::id::{BlockId, ChatId, ContactId, FlowId, RouterId};
use crate::session::SessionId;
use crate::time::Timestamp;

/// Most characters of the name of a tracked event.
pub const MAX_EVENT_NAME: usize = 128;

/// A text that is not a name of a tracked event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a name of an event: it is blank, or longer than {MAX_EVENT_NAME} characters")]
pub struct InvalidEventName;

/// Returns whether a text may name a tracked event. Definitions of flows are checked by this rule, too.
pub(in crate::flow) fn is_event_name(text: &str) -> bool {
    !text.trim().is_empty() && text.chars().count() <= MAX_EVENT_NAME
}

/// The name of a tracked event: not blank, of at most [`MAX_EVENT_NAME`] characters.
#[derive(Debug, Clone, PartialEq, Eq, Hash, TextType)]
#[text(
    rule = is_event_name,
    error = InvalidEventName,
    schema = "EventNameText",
    pattern = r"\S",
    min_length = 1,
    max_length = MAX_EVENT_NAME,
    example = "plan_chosen"
)]
pub struct EventName(String);

/// Something that happened in a flow.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct TrackedEvent {
    pub id: String,
    /// The id of the router.
    pub router_id: RouterId,
    /// The id of the flow.
    pub flow_id: FlowId,
    /// The id of the block.
    pub block_id: BlockId,
    /// The id of the session.
    pub session_id: SessionId,
    /// The id of the contact.
    pub contact_id: ContactId,
    /// The id of the chat.
    pub chat_id: ChatId,
    /// The name that the author gave to the event.
    pub name: String,
    /// The details of the event, interpolated.
    pub properties: Map<String, Value>,
    /// When the action ran.
    pub created_at: Timestamp,
}

/// Tracked events of one transaction.
#[async_trait]
pub trait TrackedEventRepository: Send {
    /// Appends events to the log of their routers.
    async fn append_many(&mut self, events: &[TrackedEvent]) -> Result<(), StorageError>;

    /// Returns the last events of a router, newest first, at most `limit`.
    async fn latest(&mut self, router: &RouterId, limit: u32) -> Result<Vec<TrackedEvent>, StorageError>;
}

/// A transaction with tracked events.
pub trait HasTrackedEvents: Send {
    /// Returns the repository of this transaction.
    fn tracked_events(&mut self) -> &mut dyn TrackedEventRepository;
}
