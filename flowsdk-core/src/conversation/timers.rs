//! Rings for sessions whose wait for input has run out (rulings S7). The moments are in the session
//! rows, so they survive a restart.

use std::sync::Arc;

use super::ConversationTx;
use crate::fault::StorageError;
use crate::session::{HasSessions as _, SessionId};
use crate::store::Store;
use crate::time::Timestamp;

/// Finds the sessions whose wait has run out.
#[derive(Debug)]
pub struct InputTimers<S> {
    store: Arc<S>,
}

/// Most sessions of one look.
const BATCH: u32 = 256;

impl<S: Store> InputTimers<S>
where
    S::Tx: ConversationTx,
{
    /// Returns timers over the sessions of `store`.
    pub fn new(store: Arc<S>) -> Self {
        Self { store }
    }

    /// The sessions to ring for at `now`, oldest first, at most 256. Ringing for one twice is harmless:
    /// the engine looks at the session's own deadline.
    pub async fn due(&self, now: Timestamp) -> Result<Vec<SessionId>, StorageError> {
        self.store.read().await?.sessions().due(now, BATCH).await
    }
}
