//! Storage of routers.

use async_trait::async_trait;

use super::{Router, StaticVariable, VariableOwner, Wording};
use crate::fault::{Fault, StorageError};
use crate::id::RouterId;
use crate::page::{Page, PageRequest};
use crate::time::Timestamp;

/// How a channel leads to a router, as the orchestrator needs it (spec B 2.1 WebChatChannelConfig).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// `phoneNumberId` of incoming events: a phone number id, `wc-<channelId>` or a social account id.
    pub phone_number_id: String,
    /// The id of the router.
    pub router_id: RouterId,
    /// The flow that a first message starts: the channel's own, otherwise the router's.
    pub initial_flow_id: Option<crate::id::FlowId>,
    /// Whether it is the router's test channel, whose sessions begin on test versions (spec B 4.4).
    pub is_test: bool,
}

/// A request names a router that does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error, Fault)]
#[error("no such router")]
#[fault(
    Unprocessable,
    "router_unknown",
    pt = "Roteador não encontrado",
    en = "Router not found",
    field = "routerId"
)]
pub struct RouterUnknown;

/// Returns the reason why a record of a router was not stored: the router went after it was looked for, or storage
/// failed. A router is the only record that the new one refers to.
pub fn router_gone<E: From<RouterUnknown> + From<StorageError>>(error: StorageError) -> E {
    match error {
        StorageError::Orphan { .. } => RouterUnknown.into(),
        error => error.into(),
    }
}

/// Routers of one transaction.
#[async_trait]
pub trait RouterRepository: Send {
    /// Returns a router, if it exists.
    async fn find(&mut self, id: &RouterId) -> Result<Option<Router>, StorageError> {
        Ok(self.find_many(std::slice::from_ref(id)).await?.pop())
    }

    /// Returns the routers among `ids` that exist.
    async fn find_many(&mut self, ids: &[RouterId]) -> Result<Vec<Router>, StorageError>;

    /// Returns a page of routers, newest first; of those in `only`, if it is given.
    async fn list(
        &mut self,
        only: Option<&[RouterId]>,
        page: &PageRequest,
    ) -> Result<Page<Router>, StorageError>;

    /// Returns the routes of these channels. A channel without one does not exist.
    async fn find_routes(&mut self, phone_number_ids: &[String]) -> Result<Vec<Route>, StorageError>;

    /// Returns what the contacts of these channels are told where nothing else answers them.
    async fn wordings(&mut self, phone_number_ids: &[String]) -> Result<Vec<Wording>, StorageError>;

    /// Creates a router with all its settings.
    async fn insert(&mut self, router: &Router) -> Result<(), StorageError>;

    /// Sets the flow that a first message starts.
    async fn set_initial_flow(
        &mut self,
        id: &RouterId,
        flow: Option<&crate::id::FlowId>,
    ) -> Result<(), StorageError>;

    /// Returns all static variables of these owners.
    async fn static_variables(
        &mut self,
        owners: &[VariableOwner],
    ) -> Result<Vec<StaticVariable>, StorageError>;

    /// Creates a static variable under the new id `id`, or returns the one with the same owner and key
    /// this value.
    async fn put_static_variable(
        &mut self,
        id: &str,
        variable: &StaticVariable,
        now: Timestamp,
    ) -> Result<(), StorageError>;
}

/// A transaction with routers and their static variables.
pub trait HasRouters: Send {
    /// Returns the repository of this transaction.
    fn routers(&mut self) -> &mut dyn RouterRepository;
}
