//! The events that flows record for reports: the action `trackEvent`.

use async_trait::async_trait;
use serde_json::{Map, Value};

use crate::fault::StorageError;
use crate::id::{BlockId, ChatId, ContactId, FlowId, RouterId};
use crate::session::SessionId;
use crate::time::Timestamp;

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
