//! Handoffs that no queue has taken yet, as operators see them (rulings D4).

use std::sync::Arc;

use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{ChatId, ContactId, RouterId};
use flowsdk_core::page::{Page, PageRequest};
use flowsdk_core::router::{Admitted, Reach};
use flowsdk_core::schema::SchemaAttributes;
use flowsdk_core::session::SessionId;
use flowsdk_core::store::Store;
use flowsdk_core::time::IsoTime;
use serde::Serialize;

use super::{HasStuckHandoffs, StuckHandoff};

/// A handoff that waits because its router has no active queue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = StuckHandoff)]
pub struct StuckHandoffView {
    /// The session that waits.
    pub session_id: SessionId,
    /// The router without an active queue.
    pub router_id: RouterId,
    /// The chat of the session.
    pub chat_id: ChatId,
    /// The contact who waits.
    pub contact_id: ContactId,
    /// How often it was tried.
    #[schema(example = 3)]
    pub attempts: u32,
    /// When it is tried again.
    pub next_attempt_at: IsoTime,
    /// Since when it waits.
    pub created_at: IsoTime,
}

impl From<StuckHandoff> for StuckHandoffView {
    fn from(stuck: StuckHandoff) -> Self {
        Self {
            session_id: stuck.session_id,
            router_id: stuck.router_id,
            chat_id: stuck.event.chat_id,
            contact_id: stuck.event.contact.id,
            attempts: stuck.attempts,
            next_attempt_at: IsoTime(stuck.due_at),
            created_at: IsoTime(stuck.created_at),
        }
    }
}

/// Shows stuck handoffs.
#[derive(Debug)]
pub struct StuckHandoffs<S> {
    store: Arc<S>,
}

impl<S: Store> StuckHandoffs<S>
where
    S::Tx: HasStuckHandoffs,
{
    /// Creates the service over `store`.
    pub fn new(store: Arc<S>) -> Self {
        Self { store }
    }

    /// Returns a page of them within reach, the newest first; of a router, if it is given.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn list(
        &self,
        reach: Reach<'_>,
        router: &Admitted<Option<RouterId>>,
        page: &PageRequest,
    ) -> Result<Page<StuckHandoff>, StorageError> {
        self.store.read().await?.stuck_handoffs().list(router.as_ref(), reach.routers(), page).await
    }

    /// Returns how many there are.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn count(&self) -> Result<i64, StorageError> {
        self.store.read().await?.stuck_handoffs().count().await
    }
}
