//! Storage of flows, as they are administered.

use crate::page::{Cursor, Searched};
use async_trait::async_trait;
use serde_json::Value;
use std::borrow::Cow;

use super::{Flow, FlowDraft, FlowKind, FlowVersion, FlowVersionHead};
use crate::fault::StorageError;
use crate::id::{AgentId, FlowId, QueueId, RouterId, UserId};
use crate::page::{Page, PageRequest};
use crate::router::{Reach, Reachable};
use crate::session::Channel;

/// Which flows a page shows; an absent field restricts nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FlowFilter {
    /// Those of this router.
    pub router_id: Option<RouterId>,
    /// Those of this kind.
    pub kind: Option<FlowKind>,
}

impl Reachable for FlowFilter {
    fn is_within(&self, reach: Reach<'_>) -> bool {
        self.router_id.is_within(reach)
    }
}

/// A flow in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct ListedFlow {
    pub flow: Flow,
    /// The revision of its draft; 0 when it has none.
    pub revision: i64,
    /// The number of its published version.
    pub published_number: Option<i64>,
}

impl Searched for ListedFlow {
    fn search_text(&self) -> Cow<'_, str> {
        (&self.flow.name).into()
    }

    fn place(&self) -> Cursor {
        Cursor::of(self.flow.created_at, &self.flow.id)
    }
}

/// The numbers that the next versions of a flow come after.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastNumbers {
    /// The greatest number of a published version, or 0.
    pub published: i64,
    /// The least number of a test version, or 0; those of test versions are negative.
    pub test: i64,
}

/// A flow with everything that travels with it.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct WholeFlow {
    pub flow: Flow,
    /// The draft as JSON, if there is one.
    pub draft: Option<Value>,
    /// The published definition as JSON, if there is one.
    pub published: Option<Value>,
}

/// An AI agent of a router, as whoever builds its flows has to know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AiAgentAround {
    /// Its id.
    pub id: AgentId,
    /// Whether it takes conversations.
    pub is_in_service: bool,
    /// Whether it has an active system prompt.
    pub has_system_prompt: bool,
    /// Whether it or its router has a credential.
    pub has_credential: bool,
}

/// Flows of one transaction.
#[async_trait]
pub trait FlowCatalog: Send {
    /// Returns a page of flows, newest first; of those of the routers in `only`, if it is given.
    async fn list(
        &mut self,
        filter: &FlowFilter,
        only: Option<&[RouterId]>,
        page: &PageRequest,
    ) -> Result<Page<ListedFlow>, StorageError>;

    /// Returns a flow with its numbers, not locked.
    async fn find(&mut self, id: &FlowId) -> Result<Option<ListedFlow>, StorageError>;

    /// Returns a flow, locked until the end of the transaction.
    async fn find_for_update(&mut self, id: &FlowId) -> Result<Option<Flow>, StorageError>;

    /// Rewrites name, versions and `updated_at` of a flow.
    async fn save(&mut self, flow: &Flow) -> Result<(), StorageError>;

    /// Deletes a flow with its draft, versions and variables; references to it become empty.
    async fn delete(&mut self, id: &FlowId) -> Result<(), StorageError>;

    /// Returns the draft of a flow.
    async fn draft(&mut self, id: &FlowId) -> Result<Option<FlowDraft>, StorageError>;

    /// Writes the draft of a flow.
    async fn put_draft(&mut self, id: &FlowId, draft: &FlowDraft) -> Result<(), StorageError>;

    /// Stores a version, and nothing more.
    async fn insert_version(&mut self, version: &FlowVersion) -> Result<(), StorageError>;

    /// Returns the numbers after which the next versions come.
    async fn last_numbers(&mut self, id: &FlowId) -> Result<LastNumbers, StorageError>;

    /// Returns a page of the published versions of a flow, test versions not among them, newest first.
    async fn versions(
        &mut self,
        id: &FlowId,
        page: &PageRequest,
    ) -> Result<Page<FlowVersionHead>, StorageError>;

    /// Returns the version of a flow that has this number.
    async fn find_version(&mut self, id: &FlowId, number: i64) -> Result<Option<FlowVersion>, StorageError>;

    /// Deletes the test versions of a flow whose numbers are greater than `after` (older ones have greater numbers)
    /// and that no open session of the router's test channel stands in.
    async fn purge_test_versions(&mut self, id: &FlowId, after: i64) -> Result<(), StorageError>;

    /// Returns the channels that lead to a router: those of which it has a number, account or chat.
    async fn channels_around(&mut self, router: &RouterId) -> Result<Vec<Channel>, StorageError>;

    /// Returns those of these users who are agents of a router.
    async fn agents_around(
        &mut self,
        router: &RouterId,
        users: &[UserId],
    ) -> Result<Vec<UserId>, StorageError>;

    /// Returns the active queues of a router: those to which its flows can hand over.
    async fn queues_around(&mut self, router: &RouterId) -> Result<Vec<QueueId>, StorageError>;

    /// Returns those of these AI agents that are of a router.
    async fn ai_agents_around(
        &mut self,
        router: &RouterId,
        agents: &[AgentId],
    ) -> Result<Vec<AiAgentAround>, StorageError>;

    /// Returns all flows of a router, oldest first, or one of them.
    async fn whole(
        &mut self,
        router: &RouterId,
        only: Option<&FlowId>,
    ) -> Result<Vec<WholeFlow>, StorageError>;
}

/// A transaction with the administration of flows, their drafts and versions.
pub trait HasFlowCatalog: Send {
    /// Returns the repository of this transaction.
    fn flow_catalog(&mut self) -> &mut dyn FlowCatalog;
}
