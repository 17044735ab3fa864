//! The system prompt. Nothing in it is secret, so it is its own public form.

use std::sync::Arc;

use flowsdk_core::id::{AgentId, Id, IdSource, RouterId};
use flowsdk_core::name::Name;
use flowsdk_core::record::{NewRecord, RecordChange, RouterRecord};
use flowsdk_core::router::{Reach, Reachable};
use flowsdk_core::schema::SchemaAttributes;
#[cfg(feature = "schema")]
use flowsdk_core::time::IsoTime;
use flowsdk_core::time::{Timestamp, as_iso};
use serde::{Deserialize, Serialize};

use crate::part::{AgentField, AgentPart, AgentPartError, AgentPartFilter};

/// Identifier of a system prompt.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Id)]
pub struct SystemPromptId(Arc<str>);

/// A part of what an AI agent is told. The active ones are put together in ascending order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, RouterRecord, SchemaAttributes)]
#[router_record(
    kind = SystemPrompt, error = AgentPartError, filter = AgentPartFilter, not_found = PromptNotFound,
    search = name
)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SystemPrompt {
    /// The id of the system prompt.
    pub id: SystemPromptId,
    /// The router of the agent. It never changes.
    pub router_id: RouterId,
    /// The agent that is told it. It never changes.
    pub agent_id: AgentId,
    /// The name that users see.
    #[schema(example = "Tone")]
    pub name: String,
    /// The text.
    pub text: String,
    /// Its place: lower numbers come first, and of equal ones the older.
    pub order: u32,
    /// Whether the agent is told it.
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

impl AgentPart for SystemPrompt {
    fn agents(&self) -> Vec<(AgentField, &AgentId)> {
        vec![(AgentField::Agent, &self.agent_id)]
    }
}

/// A new system prompt.
#[derive(Debug, Clone, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = CreateSystemPrompt)]
pub struct NewSystemPrompt {
    /// The router of the agent. It cannot be changed later.
    pub router_id: RouterId,
    /// The agent that is told it. It cannot be changed later.
    pub agent_id: AgentId,
    /// The name that users see.
    #[schema(value_type = String, min_length = 1, max_length = 200, pattern = r"\S", example = "Tone")]
    pub name: Name,
    /// The text.
    #[schema(min_length = 1, max_length = 32_000, pattern = r"\S")]
    pub text: String,
    /// Its place: lower numbers come first, and of equal ones the older.
    #[serde(default)]
    #[schema(required = false, maximum = 10_000)]
    pub order: u32,
    /// Whether the agent is told it.
    #[serde(default = "flowsdk_core::default::yes")]
    #[schema(required = false)]
    pub is_active: bool,
}

impl Reachable for NewSystemPrompt {
    fn is_within(&self, reach: Reach<'_>) -> bool {
        self.router_id.is_within(reach)
    }
}

impl NewRecord for NewSystemPrompt {
    type Record = SystemPrompt;

    fn into_record(self, ids: &dyn IdSource, now: Timestamp) -> SystemPrompt {
        SystemPrompt {
            id: SystemPromptId::generate(ids),
            router_id: self.router_id,
            agent_id: self.agent_id,
            name: self.name.into(),
            text: self.text,
            order: self.order,
            is_active: self.is_active,
            created_at: now,
            updated_at: now,
        }
    }
}

/// The changes to make to a system prompt; an absent field stays.
#[derive(Debug, Clone, Default, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = PatchSystemPrompt)]
pub struct SystemPromptChange {
    /// The name that users see.
    #[schema(value_type = String, required = false, min_length = 1, max_length = 200, pattern = r"\S")]
    pub name: Option<Name>,
    /// The text.
    #[schema(value_type = String, required = false, min_length = 1, max_length = 32_000, pattern = r"\S")]
    pub text: Option<String>,
    /// Its place: lower numbers come first, and of equal ones the older.
    #[schema(value_type = u32, required = false, maximum = 10_000)]
    pub order: Option<u32>,
    /// Whether the agent is told it.
    #[schema(value_type = bool, required = false)]
    pub is_active: Option<bool>,
}

impl RecordChange for SystemPromptChange {
    type Record = SystemPrompt;

    fn apply(self, prompt: SystemPrompt) -> SystemPrompt {
        SystemPrompt {
            name: self.name.map_or(prompt.name, String::from),
            text: self.text.unwrap_or(prompt.text),
            order: self.order.unwrap_or(prompt.order),
            is_active: self.is_active.unwrap_or(prompt.is_active),
            ..prompt
        }
    }
}
