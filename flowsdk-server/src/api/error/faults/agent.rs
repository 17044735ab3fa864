//! Errors of AI agents, and of what stands beside them.

use flowsdk_agent::agent::AiAgentError;
use flowsdk_agent::budget::BudgetError;
use flowsdk_agent::knowledge::{KnowledgeError, Unfit};
use flowsdk_agent::ledger::AgentTurnError;
use flowsdk_agent::model::ModelError;
use flowsdk_agent::part::{AgentField, AgentPartError};
use flowsdk_agent::price::ModelPriceError;
use flowsdk_agent::sentiment::JudgeError;
use flowsdk_agent::usage::UsageError;
use flowsdk_core::idempotency::IdempotencyConflict;
use flowsdk_core::router::RouterUnknown;

use super::{Table, dependants, details, limit, storage};

/// Adds them to the table.
pub(super) fn add(table: &mut Table) {
    table.add([
        AiAgentError::NotFound,
        AiAgentError::RouterUnknown(RouterUnknown),
        AiAgentError::Invalid(details()),
        AiAgentError::CredentialUnknown,
        AiAgentError::FallbackCredentialUnknown,
        AiAgentError::InUse(dependants()),
        AiAgentError::Idempotency(IdempotencyConflict),
        AiAgentError::Storage(storage()),
    ]);
    table.add([
        AgentPartError::PromptNotFound,
        AgentPartError::GuardrailNotFound,
        AgentPartError::RouteNotFound,
        AgentPartError::RouterUnknown(RouterUnknown),
        AgentPartError::AgentUnknown(AgentField::To),
        AgentPartError::RouteToItself,
        AgentPartError::Invalid(details()),
        AgentPartError::RulesUnfit(details()),
        AgentPartError::RouteTaken,
        AgentPartError::Idempotency(IdempotencyConflict),
        AgentPartError::Storage(storage()),
    ]);
    table.add([AgentTurnError::NotFound, AgentTurnError::Storage(storage())]);
    table.add([
        JudgeError::NotFound,
        JudgeError::Disabled,
        JudgeError::NoCredential,
        JudgeError::NoBudget,
        JudgeError::NothingSaid,
        JudgeError::Busy(limit()),
        JudgeError::Model(ModelError::PreviousLost),
        JudgeError::Storage(storage()),
    ]);
    table.add([
        ModelPriceError::NotFound,
        ModelPriceError::RouterUnknown(RouterUnknown),
        ModelPriceError::ModelTaken,
        ModelPriceError::Idempotency(IdempotencyConflict),
        ModelPriceError::Storage(storage()),
    ]);
    table.add([
        UsageError::Backwards,
        UsageError::TooLong { most: 7 },
        UsageError::TooMany { most: 7 },
        UsageError::Storage(storage()),
    ]);
    table.add([
        BudgetError::NotFound,
        BudgetError::RouterUnknown(RouterUnknown),
        BudgetError::Taken,
        BudgetError::Idempotency(IdempotencyConflict),
        BudgetError::Storage(storage()),
    ]);
    table.add([
        KnowledgeError::NotFound,
        KnowledgeError::RouterUnknown(RouterUnknown),
        KnowledgeError::Invalid(details()),
        KnowledgeError::Full,
        KnowledgeError::Embedder(ModelError::PreviousLost),
        KnowledgeError::Idempotency(IdempotencyConflict),
        KnowledgeError::Storage(storage()),
    ]);
    table.add([Unfit::Empty, Unfit::TooLarge, Unfit::Unknown, Unfit::Mismatch, Unfit::Charset]);
}
