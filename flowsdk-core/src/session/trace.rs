//! The steps of the turns of a session.

use async_trait::async_trait;
use serde_json::Value;

use super::SessionId;
use crate::fault::StorageError;
use crate::id::{ContactId, RouterId};
use crate::time::Timestamp;

/// Most events of a session whose traces are kept; newer ones take the place of the oldest.
pub const MAX_TRACES: u32 = 100;

/// The trace of one event of a session. It holds parts of what was said and set; the values of static variables are
/// hidden in it.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionTrace {
    /// The id of the session.
    pub session_id: SessionId,
    /// The router whose session it was; not known of one that was stored before routers were noted.
    pub router_id: Option<RouterId>,
    /// The contact whose session it was; its traces go with it.
    pub contact_id: Option<ContactId>,
    /// The session's version after the event.
    pub version: i64,
    /// The `kind` of the event.
    pub event: String,
    /// The steps, in order (see [`TraceStep`](crate::flow::TraceStep)).
    pub steps: Value,
    /// When it was handled.
    pub created_at: Timestamp,
}

/// Traces of one transaction.
#[async_trait]
pub trait SessionTraceRepository: Send {
    /// Stores traces. Of a session the last [`MAX_TRACES`] are kept.
    async fn store_many(&mut self, traces: &[SessionTrace]) -> Result<(), StorageError>;

    /// Deletes up to `limit` traces from before `before`; returns how many.
    async fn purge(&mut self, before: Timestamp, limit: u32) -> Result<u64, StorageError>;

    /// Returns the traces of a session before the one at `before` (the newest without it), newest first.
    async fn trace(
        &mut self,
        session: &SessionId,
        before: Option<i64>,
        limit: u32,
    ) -> Result<Vec<SessionTrace>, StorageError>;
}

/// A transaction with traces.
pub trait HasTraces: Send {
    /// Returns the repository of this transaction.
    fn traces(&mut self) -> &mut dyn SessionTraceRepository;
}
