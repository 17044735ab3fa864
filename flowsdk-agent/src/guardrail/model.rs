//! The guardrail. Nothing in it is secret, so it is its own public form.

use std::sync::Arc;

use flowsdk_core::id::{AgentId, Id, IdSource, RouterId};
use flowsdk_core::patch::present;
use flowsdk_core::record::{NewRecord, RecordChange, RouterRecord};
use flowsdk_core::router::{Reach, Reachable};
use flowsdk_core::schema::SchemaAttributes;
use flowsdk_core::text::Text;
#[cfg(feature = "schema")]
use flowsdk_core::time::IsoTime;
use flowsdk_core::time::{Timestamp, as_iso};
use serde::{Deserialize, Serialize};

use super::GuardrailRules;
use crate::part::{AgentField, AgentPart, AgentPartError, AgentPartFilter};

/// Identifier of a guardrail.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Id)]
pub struct GuardrailId(Arc<str>);

/// A restriction of one AI agent, or of all agents of a router.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, RouterRecord, SchemaAttributes)]
#[router_record(
    kind = Guardrail, error = AgentPartError, filter = AgentPartFilter, not_found = GuardrailNotFound,
    search = text
)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Guardrail {
    /// The id of the guardrail.
    pub id: GuardrailId,
    /// The router. It never changes.
    pub router_id: RouterId,
    /// The agent that is restricted; null is every agent of the router. It never changes.
    #[schema(required = true)]
    pub agent_id: Option<AgentId>,
    /// The restriction, as models are told; empty where there are only rules.
    #[schema(example = "Never promise a refund.")]
    pub text: String,
    /// What is enforced beside it; null is nothing.
    #[schema(required = true)]
    pub rules: Option<GuardrailRules>,
    /// Whether models are told it, and its rules are enforced.
    pub is_active: bool,
    /// When it was created.
    #[serde(serialize_with = "as_iso")]
    #[schema(value_type = IsoTime)]
    pub created_at: Timestamp,
    /// When it was last changed.
    #[serde(serialize_with = "as_iso")]
    #[schema(value_type = IsoTime)]
    pub updated_at: Timestamp,
}

impl AgentPart for Guardrail {
    fn agents(&self) -> Vec<(AgentField, &AgentId)> {
        self.agent_id.iter().map(|agent| (AgentField::Agent, agent)).collect()
    }

    fn check(&self) -> Result<(), AgentPartError> {
        let enforces = self.rules.as_ref().is_some_and(|rules| !rules.is_empty());
        if self.text.trim().is_empty() && !enforces {
            return Err(AgentPartError::Invalid(vec![("text".to_owned(), SAYS_NOTHING)]));
        }
        let flaws = self.rules.as_ref().map(|rules| rules.flaws(self.agent_id.is_some()));
        let flaws = flaws.unwrap_or_default();
        if flaws.is_empty() { Ok(()) } else { Err(AgentPartError::RulesUnfit(flaws)) }
    }
}

const SAYS_NOTHING: Text =
    Text::new("Um guardrail tem um texto ou regras", "A guardrail has a text, or rules");

/// A new guardrail.
#[derive(Debug, Clone, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = CreateGuardrail)]
pub struct NewGuardrail {
    /// The router. It cannot be changed later.
    pub router_id: RouterId,
    /// The agent that is restricted; null is every agent of the router. It cannot be changed later.
    pub agent_id: Option<AgentId>,
    /// The restriction, as models are told. It may be empty where there are rules.
    #[serde(default)]
    #[schema(required = false, max_length = 2_000, example = "Never promise a refund.")]
    pub text: String,
    /// What is enforced beside it; null is nothing.
    pub rules: Option<GuardrailRules>,
    /// Whether models are told it, and its rules are enforced.
    #[serde(default = "flowsdk_core::default::yes")]
    #[schema(required = false)]
    pub is_active: bool,
}

impl Reachable for NewGuardrail {
    fn is_within(&self, reach: Reach<'_>) -> bool {
        self.router_id.is_within(reach)
    }
}

impl NewRecord for NewGuardrail {
    type Record = Guardrail;

    fn into_record(self, ids: &dyn IdSource, now: Timestamp) -> Guardrail {
        Guardrail {
            id: GuardrailId::generate(ids),
            router_id: self.router_id,
            agent_id: self.agent_id,
            text: self.text,
            rules: self.rules,
            is_active: self.is_active,
            created_at: now,
            updated_at: now,
        }
    }
}

/// The changes to make to a guardrail; an absent field stays, and null removes a value.
#[derive(Debug, Clone, Default, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = PatchGuardrail)]
pub struct GuardrailChange {
    /// The restriction, as models are told. It may be empty where there are rules.
    #[schema(value_type = String, required = false, max_length = 2_000)]
    pub text: Option<String>,
    /// All that is enforced beside it, in place of what was before; null is nothing.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<GuardrailRules>)]
    pub rules: Option<Option<GuardrailRules>>,
    /// Whether models are told it, and its rules are enforced.
    #[schema(value_type = bool, required = false)]
    pub is_active: Option<bool>,
}

impl RecordChange for GuardrailChange {
    type Record = Guardrail;

    fn apply(self, guardrail: Guardrail) -> Guardrail {
        Guardrail {
            text: self.text.unwrap_or(guardrail.text),
            rules: self.rules.unwrap_or(guardrail.rules),
            is_active: self.is_active.unwrap_or(guardrail.is_active),
            ..guardrail
        }
    }
}
