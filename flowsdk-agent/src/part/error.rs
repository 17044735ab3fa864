//! Why a use case of what stands beside AI agents fails.

use flowsdk_core::fault::{Fault, StorageError};
use flowsdk_core::idempotency::IdempotencyConflict;
use flowsdk_core::router::RouterUnknown;
use flowsdk_core::text::Text;

use super::AgentField;

/// The reason why a use case of system prompts, guardrails or routes fails.
#[derive(Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum AgentPartError {
    /// No such system prompt within reach.
    #[error("no such system prompt")]
    #[fault(NotFound, "not_found", pt = "Prompt de sistema não encontrado", en = "System prompt not found")]
    PromptNotFound,
    /// No such guardrail within reach.
    #[error("no such guardrail")]
    #[fault(NotFound, "not_found", pt = "Guardrail não encontrado", en = "Guardrail not found")]
    GuardrailNotFound,
    /// No such route within reach.
    #[error("no such route")]
    #[fault(
        NotFound,
        "not_found",
        pt = "Rota entre agentes não encontrada",
        en = "Route between agents not found"
    )]
    RouteNotFound,
    /// No such router to create it in.
    #[error(transparent)]
    #[fault(transparent)]
    RouterUnknown(#[from] RouterUnknown),
    /// The router has no such AI agent.
    #[error("no such AI agent in the router")]
    #[fault(
        Unprocessable,
        "ai_agent_unknown",
        pt = "O agente de IA não existe neste roteador",
        en = "The router has no such AI agent",
        field = .0.name()
    )]
    AgentUnknown(AgentField),
    /// A route from an agent to itself.
    #[error("a route to itself")]
    #[fault(
        Invalid,
        "validation_failed",
        pt = "Uma rota leva a outro agente",
        en = "A route leads to another agent",
        field = "toAgentId"
    )]
    RouteToItself,
    /// Fields that do not fit, each with its reason.
    #[error("fields that do not fit")]
    #[fault(Invalid, "validation_failed", pt = "Dados inválidos", en = "Invalid data", details = .0.clone())]
    Invalid(Vec<(String, Text)>),
    /// Rules of a guardrail that cannot be enforced, each with its reason.
    #[error("rules that cannot be enforced")]
    #[fault(
        Unprocessable,
        "guardrail_rules_invalid",
        pt = "As regras não podem ser aplicadas",
        en = "The rules cannot be enforced",
        details = .0.clone()
    )]
    RulesUnfit(Vec<(String, Text)>),
    /// There is a route between these agents.
    #[error("route taken")]
    #[fault(
        Conflict,
        "route_taken",
        pt = "Já existe uma rota entre estes agentes",
        en = "There is a route between these agents already",
        field = "toAgentId"
    )]
    RouteTaken,
    /// The request was repeated with other content.
    #[error(transparent)]
    #[fault(transparent)]
    Idempotency(#[from] IdempotencyConflict),
    /// Storage failed.
    #[error("storage failed")]
    #[fault(transparent)]
    Storage(#[from] StorageError),
}
