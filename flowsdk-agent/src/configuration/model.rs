//! The configuration of an agent, as the executor reads it.

use std::collections::BTreeMap;

use flowsdk_core::cell::Named;
use flowsdk_core::id::{AgentId, FlowId, LlmCredentialId, RouterId};
use flowsdk_core::schema::SchemaAttributes;
use serde::Serialize;
use serde_json::Value;

use super::SentimentSettings;
use crate::guardrail::GuardrailRules;
use crate::tool::{FlowTool, NativeTool, ToolSettings};
use crate::turn::Colleague;

/// What an AI agent works with. Nothing in it is secret.
#[derive(Debug, Clone, PartialEq, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = AiAgentConfiguration)]
pub struct AgentConfiguration {
    /// The id of the agent.
    pub agent_id: AgentId,
    /// The router of the agent.
    pub router_id: RouterId,
    /// The name that contacts and users see.
    #[schema(example = "Sales")]
    pub name: String,
    /// The active system prompts, in ascending order.
    pub system_prompt: String,
    /// The texts of the active guardrails: those of the router, and then those of the agent.
    pub guardrails: Vec<String>,
    /// What is enforced of their rules: those of the router and of the agent together.
    pub guardrail_rules: GuardrailRules,
    /// The agents to which it may hand a conversation.
    pub routes: Vec<RouteOut>,
    /// The provider's name of the model.
    #[schema(example = "gpt-5-mini")]
    pub model: String,
    /// The credential of its model: its own, else that of the router.
    #[schema(required = true)]
    pub llm_credential_id: Option<LlmCredentialId>,
    /// The model that is asked when the first one does not answer.
    #[schema(required = true)]
    pub fallback_model: Option<String>,
    /// The credential of that model.
    #[schema(required = true)]
    pub fallback_llm_credential_id: Option<LlmCredentialId>,
    /// The action tools that it may call; none means all.
    pub enabled_internal_tools: Vec<NativeTool>,
    /// What its model is told of tools instead of their usual descriptions, by their names.
    #[schema(value_type = BTreeMap<NativeTool, String>)]
    pub native_tool_descriptions: BTreeMap<NativeTool, String>,
    /// The variables of contacts that it may write; null is every one.
    #[schema(required = true)]
    pub contact_variable_keys: Option<Vec<String>>,
    /// Whether the router has knowledge that it searches.
    pub has_rag_sources: bool,
    /// The tags of the knowledge that it searches; none means all of the router's.
    pub rag_tags: Vec<String>,
    /// The published flows of kind `tool`.
    pub tools: Vec<FlowTool>,
    /// How the router wants sentiments to be found.
    #[schema(required = true, value_type = Option<Object>)]
    pub sentiment_config: Option<Value>,
    /// Whether its model sees images.
    pub has_vision: bool,
    /// Most tokens of one answer; null is as many as the provider lets it have.
    #[schema(required = true)]
    pub max_output_tokens: Option<u32>,
    /// What keeps it from working as it was probably meant.
    pub warnings: Vec<ConfigurationWarning>,
}

impl AgentConfiguration {
    /// Returns the settings of its tools.
    pub fn tool_settings(&self) -> ToolSettings {
        ToolSettings {
            enabled: self.enabled_internal_tools.clone(),
            descriptions: self.native_tool_descriptions.clone(),
            has_knowledge: self.has_rag_sources,
            notes_sentiment: self.sentiment().notes_each_turn,
            flows: self.tools.clone(),
        }
    }

    /// Returns how sentiments are found.
    pub fn sentiment(&self) -> SentimentSettings {
        SentimentSettings::of(self.sentiment_config.as_ref())
    }

    /// Returns the agents of its routes, as its model is told of them.
    pub fn colleagues(&self) -> Vec<Colleague> {
        let colleague = |route: &RouteOut| Colleague {
            id: route.agent_id.to_string(),
            name: route.name.clone(),
            description: route.description.clone(),
        };
        self.routes.iter().map(colleague).collect()
    }

    /// Returns the flow that a tool of this name is.
    pub fn flow_of(&self, tool: &str) -> Option<&FlowId> {
        self.tools.iter().find(|known| known.name == tool).map(|known| &known.flow_id)
    }
}

/// An agent to which a conversation may go.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = AiAgentRouteOut)]
pub struct RouteOut {
    /// The id of the agent.
    pub agent_id: AgentId,
    /// Its name.
    pub name: String,
    /// When a conversation is to go there.
    pub description: String,
}

/// Something that keeps an agent from working as it was probably meant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = AiAgentWarning)]
pub struct ConfigurationWarning {
    /// What is wrong.
    pub code: WarningKind,
    /// What it is about: the id of an agent, or the name of a tool; null where it is the agent itself.
    #[schema(required = true)]
    pub subject: Option<String>,
}

/// What is wrong with a configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Named)]
#[serde(rename_all = "camelCase")]
pub enum WarningKind {
    /// The agent takes no conversations: it is not active, or of type `system`.
    NotInService,
    /// It has no active system prompt, so its model knows nothing of its task.
    NoSystemPrompt,
    /// Neither the agent nor its router has a credential.
    NoCredential,
    /// A route leads to an agent that takes no conversations. It is left out.
    DeadEnd,
    /// The agent, or one to which a route leads, may neither end its part nor hand the conversation on.
    NoWayOut,
    /// Two tools have the same name, or a flow has that of another tool. The flow is left out.
    ToolNameTaken,
}
