//! Sessions as they are administered: searched, shown, thawed.

use async_trait::async_trait;

use super::{
    ChunksWanted, FrozenError, FrozenSession, HistoryChunk, HistoryKind, Mode, Position, Session, SessionId,
    StoredSession,
};
use crate::fault::StorageError;
use crate::id::{ContactId, FlowId, RouterId};
use crate::message::IncomingMessage;
use crate::page::{Page, PageRequest};
use crate::router::{Reach, Reachable};
use crate::time::Timestamp;

/// The sessions that a page shows; an absent field restricts nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionFilter {
    /// Those of this router.
    pub router_id: Option<RouterId>,
    /// Those of this owner.
    pub mode: Option<Mode>,
    /// Those of this contact.
    pub contact_id: Option<ContactId>,
    /// Those that are in this flow.
    pub flow_id: Option<FlowId>,
}

impl Reachable for SessionFilter {
    fn is_within(&self, reach: Reach<'_>) -> bool {
        self.router_id.is_within(reach)
    }
}

/// A frozen session as it is listed.
#[derive(Debug, Clone, PartialEq)]
pub struct FrozenItem {
    /// The cause of the freeze.
    pub frozen: FrozenSession,
    /// Its router; `None` where not even that is known.
    pub router_id: Option<RouterId>,
    /// Its owner; `None` for one that could not even begin.
    pub mode: Option<Mode>,
    /// Where it stands; `None` for one that could not even begin.
    pub position: Option<Position>,
    /// The message at which it stopped; `None` if it stopped at another event, or could not even begin.
    pub message: Option<IncomingMessage>,
}

/// That a session is frozen.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct Frost {
    pub error: FrozenError,
    pub frozen_at: Timestamp,
}

/// Sessions of one transaction, for those who administer them.
#[async_trait]
pub trait SessionCatalog: Send {
    /// Returns a session, not locked.
    async fn find(&mut self, id: &SessionId) -> Result<Option<StoredSession>, StorageError>;

    /// Returns a page of live sessions, newest first; of the routers in `only`, if it is given.
    async fn list(
        &mut self,
        filter: &SessionFilter,
        only: Option<&[RouterId]>,
        page: &PageRequest,
    ) -> Result<Page<Session>, StorageError>;

    /// Returns those of `ids` that are frozen.
    async fn frosts(&mut self, ids: &[&SessionId]) -> Result<Vec<(SessionId, Frost)>, StorageError>;

    /// Returns a frozen session.
    async fn find_frozen(&mut self, id: &SessionId) -> Result<Option<FrozenItem>, StorageError>;

    /// Returns a page of frozen sessions, those that froze last first; of the routers in `only`, if it is given.
    async fn list_frozen(
        &mut self,
        only: Option<&[RouterId]>,
        page: &PageRequest,
    ) -> Result<Page<FrozenItem>, StorageError>;

    /// Returns the newest chunks of a history, those that begin before `wanted.below`, in any order.
    async fn archived(
        &mut self,
        id: &SessionId,
        kind: HistoryKind,
        wanted: ChunksWanted,
    ) -> Result<Vec<HistoryChunk>, StorageError>;

    /// Deletes the entries kept for a session.
    async fn forget_kept(&mut self, id: &SessionId) -> Result<(), StorageError>;
}

/// A transaction with the administration of sessions.
pub trait HasSessionCatalog: Send {
    /// Returns the repository of this transaction.
    fn session_catalog(&mut self) -> &mut dyn SessionCatalog;
}
