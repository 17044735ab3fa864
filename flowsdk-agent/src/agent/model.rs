//! The AI agent. Nothing in it is secret, so it is its own public form.

use std::collections::BTreeMap;

use flowsdk_core::cell::Named;
use flowsdk_core::id::{AgentId, IdSource, LlmCredentialId, RouterId};
use flowsdk_core::name::Name;
use flowsdk_core::patch::present;
use flowsdk_core::record::{NewRecord, RecordChange, RecordFilter, RouterRecord};
use flowsdk_core::router::{Reach, Reachable};
use flowsdk_core::schema::SchemaAttributes;
use flowsdk_core::text::Text;
#[cfg(feature = "schema")]
use flowsdk_core::time::IsoTime;
use flowsdk_core::time::{Timestamp, as_iso};
use serde::{Deserialize, Serialize};

use super::AiAgentError;
use crate::tool::{NativeTool, ToolKind};

/// What an agent is for. The first two differ in name only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Named)]
#[serde(rename_all = "lowercase")]
pub enum AgentType {
    /// Receives conversations and hands them to specialists.
    Orchestrator,
    /// Knows one subject.
    Specialist,
    /// Helps whoever builds flows. It never has a conversation with a contact.
    System,
}

/// An AI agent of a router.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, RouterRecord, SchemaAttributes)]
#[router_record(
    kind = AiAgent, error = AiAgentError, filter = AiAgentFilter, search = name,
    // All were looked for in the same transaction. A credential has gone since rather than the router.
    orphan(llm_credential_id = CredentialUnknown, fallback_llm_credential_id = FallbackCredentialUnknown)
)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct AiAgent {
    /// The id of the agent, which agent blocks of flows name.
    pub id: AgentId,
    /// The router whose conversations it has. It never changes.
    pub router_id: RouterId,
    /// What it is for.
    #[serde(rename = "type")]
    pub agent_type: AgentType,
    /// What an agent of type `system` helps with; null for the others.
    #[schema(required = true)]
    pub task: Option<String>,
    /// The name that users see.
    #[schema(example = "Sales")]
    pub name: String,
    /// When a conversation is to go to it, as other agents are told.
    #[schema(example = "Answers questions about prices and stock")]
    pub description: String,
    /// The provider's name of the model.
    #[schema(example = "gpt-5-mini")]
    pub model: String,
    /// The credential of its model; null is that of the router.
    #[schema(required = true)]
    pub llm_credential_id: Option<LlmCredentialId>,
    /// The model that is asked when the first one does not answer; null is none.
    #[schema(required = true)]
    pub fallback_model: Option<String>,
    /// The credential of that model; null is the one of the first model.
    #[schema(required = true)]
    pub fallback_llm_credential_id: Option<LlmCredentialId>,
    /// The action tools that it may call; none means all.
    pub enabled_internal_tools: Vec<NativeTool>,
    /// What its model is told of tools instead of their usual descriptions, by their names.
    #[schema(value_type = BTreeMap<NativeTool, String>)]
    pub native_tool_descriptions: BTreeMap<NativeTool, String>,
    /// The variables of contacts that `setContactVariable` may write; null is every one.
    #[schema(required = true)]
    pub contact_variable_keys: Option<Vec<String>>,
    /// The tags of the knowledge that it searches; none means all of the router's.
    pub rag_tags: Vec<String>,
    /// Whether its model sees images.
    pub has_vision: bool,
    /// Most tokens of one answer; null is as many as the provider lets it have.
    #[schema(required = true)]
    pub max_output_tokens: Option<u32>,
    /// Whether it takes conversations.
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

/// Most characters of what a model is told of a tool, of the key of a variable, and of a tag.
const LONGEST_DESCRIPTION: usize = 2_000;
const LONGEST_NAME: usize = 100;

const TASK_UNFIT: Text = Text::new(
    "Só agentes do tipo system têm task, e sempre têm",
    "Agents of type system have a task, and no others",
);
const NO_ACTION: Text = Text::new("Não é uma ferramenta de ação", "No action tool");

impl AiAgent {
    /// Checks what its schema cannot express: agents of type `system` have a task, and no others; tools that are enabled are
    /// actions; texts are neither empty nor too long.
    ///
    /// # Errors
    /// [`AiAgentError::Invalid`].
    pub(super) fn check(&self) -> Result<(), AiAgentError> {
        let mut flaws = Vec::new();
        if self.task.is_some() != (self.agent_type == AgentType::System) {
            flaws.push(("task".to_owned(), TASK_UNFIT));
        }
        for (at, tool) in self.enabled_internal_tools.iter().enumerate() {
            if tool.kind() != ToolKind::Action {
                flaws.push((format!("enabledInternalTools[{at}]"), NO_ACTION));
            }
        }
        let described = self.native_tool_descriptions.iter().map(|(tool, text)| {
            (format!("nativeToolDescriptions.{}", tool.name()), text, LONGEST_DESCRIPTION)
        });
        let keys = self.contact_variable_keys.as_deref().unwrap_or_default();
        let texts =
            described.chain(listed("contactVariableKeys", keys)).chain(listed("ragTags", &self.rag_tags));
        flaws.extend(texts.filter_map(|(field, text, most)| Some((field, flaw_of(text, most)?))));
        if flaws.is_empty() { Ok(()) } else { Err(AiAgentError::Invalid(flaws)) }
    }
}

/// Returns the texts of a list, each with its place and with how long it may be.
fn listed<'a>(field: &'static str, texts: &'a [String]) -> impl Iterator<Item = (String, &'a String, usize)> {
    texts.iter().enumerate().map(move |(at, text)| (format!("{field}[{at}]"), text, LONGEST_NAME))
}

/// Returns the reason why a text does not fit.
fn flaw_of(text: &str, most: usize) -> Option<Text> {
    let fits = !text.trim().is_empty() && text.chars().count() <= most;
    (!fits).then(|| Text::of(format!("de 1 a {most} caracteres"), format!("1 to {most} characters")))
}

/// Which AI agents are wanted; absent fields let everything through.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AiAgentFilter {
    /// Those of this router.
    pub router_id: Option<RouterId>,
    /// Those of this type.
    pub agent_type: Option<AgentType>,
    /// Those that are active, or those that are not.
    pub is_active: Option<bool>,
}

impl Reachable for AiAgentFilter {
    fn is_within(&self, reach: Reach<'_>) -> bool {
        self.router_id.is_within(reach)
    }
}

impl RecordFilter for AiAgentFilter {
    fn router(&self) -> Option<&RouterId> {
        self.router_id.as_ref()
    }
}

/// A new AI agent.
#[derive(Debug, Clone, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = CreateAiAgent)]
pub struct NewAiAgent {
    /// The router whose conversations it has. It cannot be changed later.
    pub router_id: RouterId,
    /// What it is for.
    #[serde(rename = "type")]
    pub agent_type: AgentType,
    /// What an agent of type `system` helps with; null for the others.
    #[schema(min_length = 1, max_length = 100, pattern = r"\S")]
    pub task: Option<String>,
    /// The name that users see.
    #[schema(value_type = String, min_length = 1, max_length = 200, pattern = r"\S", example = "Sales")]
    pub name: Name,
    /// When a conversation is to go to it, as other agents are told.
    #[serde(default)]
    #[schema(required = false, max_length = 1_000)]
    pub description: String,
    /// The provider's name of the model.
    #[schema(min_length = 1, max_length = 200, pattern = r"\S", example = "gpt-5-mini")]
    pub model: String,
    /// The credential of its model; null is that of the router.
    pub llm_credential_id: Option<LlmCredentialId>,
    /// The model that is asked when the first one does not answer; null is none.
    #[schema(min_length = 1, max_length = 200, pattern = r"\S")]
    pub fallback_model: Option<String>,
    /// The credential of that model; null is the one of the first model.
    pub fallback_llm_credential_id: Option<LlmCredentialId>,
    /// The action tools that it may call; none means all.
    #[serde(default)]
    #[schema(required = false, max_items = 20)]
    pub enabled_internal_tools: Vec<NativeTool>,
    /// What its model is told of tools instead of their usual descriptions, by their names.
    #[serde(default)]
    #[schema(value_type = BTreeMap<NativeTool, String>, required = false)]
    pub native_tool_descriptions: BTreeMap<NativeTool, String>,
    /// The variables of contacts that `setContactVariable` may write; null is every one.
    #[schema(max_items = 100)]
    pub contact_variable_keys: Option<Vec<String>>,
    /// The tags of the knowledge that it searches; none means all of the router's.
    #[serde(default)]
    #[schema(required = false, max_items = 20)]
    pub rag_tags: Vec<String>,
    /// Whether its model sees images.
    #[serde(default)]
    #[schema(required = false)]
    pub has_vision: bool,
    /// Most tokens of one answer; null is as many as the provider lets it have.
    #[schema(minimum = 16, maximum = 1_000_000)]
    pub max_output_tokens: Option<u32>,
    /// Whether it takes conversations.
    #[serde(default = "flowsdk_core::default::yes")]
    #[schema(required = false)]
    pub is_active: bool,
}

impl Reachable for NewAiAgent {
    fn is_within(&self, reach: Reach<'_>) -> bool {
        self.router_id.is_within(reach)
    }
}

impl NewRecord for NewAiAgent {
    type Record = AiAgent;

    fn into_record(self, ids: &dyn IdSource, now: Timestamp) -> AiAgent {
        AiAgent {
            id: AgentId::generate(ids),
            router_id: self.router_id,
            agent_type: self.agent_type,
            task: self.task,
            name: self.name.into(),
            description: self.description,
            model: self.model,
            llm_credential_id: self.llm_credential_id,
            fallback_model: self.fallback_model,
            fallback_llm_credential_id: self.fallback_llm_credential_id,
            enabled_internal_tools: self.enabled_internal_tools,
            native_tool_descriptions: self.native_tool_descriptions,
            contact_variable_keys: self.contact_variable_keys,
            rag_tags: self.rag_tags,
            has_vision: self.has_vision,
            max_output_tokens: self.max_output_tokens,
            is_active: self.is_active,
            created_at: now,
            updated_at: now,
        }
    }
}

/// The changes to make to an AI agent; an absent field stays, and null removes a value.
#[derive(Debug, Clone, Default, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = PatchAiAgent)]
pub struct AiAgentChange {
    /// What it is for.
    #[serde(rename = "type")]
    #[schema(value_type = AgentType, required = false)]
    pub agent_type: Option<AgentType>,
    /// What an agent of type `system` helps with; null for the others.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 100, pattern = r"\S")]
    pub task: Option<Option<String>>,
    /// The name that users see.
    #[schema(value_type = String, required = false, min_length = 1, max_length = 200, pattern = r"\S")]
    pub name: Option<Name>,
    /// When a conversation is to go to it, as other agents are told.
    #[schema(value_type = String, required = false, max_length = 1_000)]
    pub description: Option<String>,
    /// The provider's name of the model.
    #[schema(value_type = String, required = false, min_length = 1, max_length = 200, pattern = r"\S")]
    pub model: Option<String>,
    /// The credential of its model; null is that of the router.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<LlmCredentialId>)]
    pub llm_credential_id: Option<Option<LlmCredentialId>>,
    /// The model that is asked when the first one does not answer; null is none.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 200, pattern = r"\S")]
    pub fallback_model: Option<Option<String>>,
    /// The credential of that model; null is the one of the first model.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<LlmCredentialId>)]
    pub fallback_llm_credential_id: Option<Option<LlmCredentialId>>,
    /// The action tools that it may call; none means all.
    #[schema(value_type = Vec<NativeTool>, required = false, max_items = 20)]
    pub enabled_internal_tools: Option<Vec<NativeTool>>,
    /// What its model is told of tools instead of their usual descriptions, by their names.
    #[schema(value_type = BTreeMap<NativeTool, String>, required = false)]
    pub native_tool_descriptions: Option<BTreeMap<NativeTool, String>>,
    /// The variables of contacts that `setContactVariable` may write; null is every one.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<Vec<String>>, max_items = 100)]
    pub contact_variable_keys: Option<Option<Vec<String>>>,
    /// The tags of the knowledge that it searches; none means all of the router's.
    #[schema(value_type = Vec<String>, required = false, max_items = 20)]
    pub rag_tags: Option<Vec<String>>,
    /// Whether its model sees images.
    #[schema(value_type = bool, required = false)]
    pub has_vision: Option<bool>,
    /// Most tokens of one answer; null is as many as the provider lets it have.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<u32>, minimum = 16, maximum = 1_000_000)]
    pub max_output_tokens: Option<Option<u32>>,
    /// Whether it takes conversations.
    #[schema(value_type = bool, required = false)]
    pub is_active: Option<bool>,
}

impl RecordChange for AiAgentChange {
    type Record = AiAgent;

    fn apply(self, agent: AiAgent) -> AiAgent {
        AiAgent {
            agent_type: self.agent_type.unwrap_or(agent.agent_type),
            task: self.task.unwrap_or(agent.task),
            name: self.name.map_or(agent.name, String::from),
            description: self.description.unwrap_or(agent.description),
            model: self.model.unwrap_or(agent.model),
            llm_credential_id: self.llm_credential_id.unwrap_or(agent.llm_credential_id),
            fallback_model: self.fallback_model.unwrap_or(agent.fallback_model),
            fallback_llm_credential_id: self
                .fallback_llm_credential_id
                .unwrap_or(agent.fallback_llm_credential_id),
            enabled_internal_tools: self.enabled_internal_tools.unwrap_or(agent.enabled_internal_tools),
            native_tool_descriptions: self.native_tool_descriptions.unwrap_or(agent.native_tool_descriptions),
            contact_variable_keys: self.contact_variable_keys.unwrap_or(agent.contact_variable_keys),
            rag_tags: self.rag_tags.unwrap_or(agent.rag_tags),
            has_vision: self.has_vision.unwrap_or(agent.has_vision),
            max_output_tokens: self.max_output_tokens.unwrap_or(agent.max_output_tokens),
            is_active: self.is_active.unwrap_or(agent.is_active),
            ..agent
        }
    }
}
