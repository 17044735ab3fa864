//! Storage of what stands beside an agent.

use async_trait::async_trait;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{FlowId, FlowVersionId, RouterId};

use crate::agent::AiAgent;
use crate::guardrail::Guardrail;
use crate::prompt::SystemPrompt;
use crate::route::AgentRoute;

/// What stands beside an agent and is active.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AgentParts {
    /// Its system prompts, in their order.
    pub prompts: Vec<SystemPrompt>,
    /// Its guardrails and those of its router, oldest first.
    pub guardrails: Vec<Guardrail>,
    /// The routes from it, oldest first.
    pub routes: Vec<AgentRoute>,
    /// The agents of its router that have a route from here, whether they are active or not.
    pub targets: Vec<AiAgent>,
    /// The published tools of its router, oldest first.
    pub tools: Vec<ToolFlow>,
    /// Whether its router has a ready document with one of its tags, or any if it has no tags.
    pub has_knowledge: bool,
}

/// A published flow of kind `tool`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolFlow {
    /// The id of the flow.
    pub flow_id: FlowId,
    /// Its name.
    pub name: String,
    /// The version that is called.
    pub version_id: FlowVersionId,
}

/// What stands beside agents, in one transaction.
#[async_trait]
pub trait AgentPartsRepository: Send {
    /// Returns what stands beside an agent and is active.
    async fn parts_of(&mut self, agent: &AiAgent) -> Result<AgentParts, StorageError>;

    /// Returns the active guardrails of all agents of a router, oldest first.
    async fn guardrails_of(&mut self, router: &RouterId) -> Result<Vec<Guardrail>, StorageError>;
}

/// A transaction with what stands beside agents.
pub trait HasAgentParts: Send {
    /// Returns the repository of this transaction.
    fn agent_parts(&mut self) -> &mut dyn AgentPartsRepository;
}
