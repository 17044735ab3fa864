//! The tools of an agent on a channel.

use std::collections::BTreeMap;

use flowsdk_core::id::FlowId;
use flowsdk_core::message::Capabilities;
use flowsdk_core::schema::SchemaAttributes;
use serde::Serialize;
use serde_json::Value;

use super::{NativeTool, ToolKind};
use crate::model::ToolDefinition;

/// Which tools an agent has.
#[derive(Debug, Clone, Default)]
pub struct ToolSettings {
    /// The action tools that are enabled; none named means all.
    pub enabled: Vec<NativeTool>,
    /// What models are told of tools instead of their usual descriptions.
    pub descriptions: BTreeMap<NativeTool, String>,
    /// Whether the agent has knowledge to search.
    pub has_knowledge: bool,
    /// Whether the sentiment is noted in each turn.
    pub notes_sentiment: bool,
    /// The published flows of kind `tool`.
    pub flows: Vec<FlowTool>,
}

/// A published flow that an agent may call.
#[derive(Debug, Clone, PartialEq, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = AiAgentTool)]
pub struct FlowTool {
    /// The id of the flow.
    pub flow_id: FlowId,
    /// The name by which models call it.
    #[schema(example = "orderStatus")]
    pub name: String,
    /// What it does.
    pub description: String,
    /// The JSON Schema of its parameters.
    #[schema(value_type = Object)]
    pub parameters: Value,
}

/// The tools of an agent on a channel. What is not here cannot be called.
#[derive(Debug, Clone)]
pub struct Toolset {
    channel: &'static Capabilities,
    definitions: Vec<ToolDefinition>,
}

impl Toolset {
    /// Returns the tools of these settings that fit the channel. A flow with the name of another tool is left out: its calls
    /// could not be told apart.
    pub fn new(settings: &ToolSettings, channel: &'static Capabilities) -> Self {
        let is_there = |tool: NativeTool| match tool.kind() {
            ToolKind::Response => true,
            ToolKind::Action => settings.enabled.is_empty() || settings.enabled.contains(&tool),
            ToolKind::Knowledge => settings.has_knowledge,
            ToolKind::Sentiment => settings.notes_sentiment,
        };
        let native = NativeTool::ALL.iter().filter(|tool| is_there(**tool) && tool.fits(channel));
        let mut definitions: Vec<ToolDefinition> = native
            .map(|tool| ToolDefinition {
                name: tool.name().to_owned(),
                description: settings
                    .descriptions
                    .get(tool)
                    .map_or(tool.description(), String::as_str)
                    .to_owned(),
                parameters: tool.parameters(channel),
            })
            .collect();
        for FlowTool { name, description, parameters, .. } in settings.flows.iter().cloned() {
            let is_taken =
                definitions.iter().any(|known| known.name == name) || NativeTool::parse(&name).is_some();
            if !is_taken {
                definitions.push(ToolDefinition { name, description, parameters });
            }
        }
        Self { channel, definitions }
    }

    /// Returns what models are told.
    pub fn definitions(&self) -> &[ToolDefinition] {
        &self.definitions
    }

    /// Returns what its channel carries.
    pub fn channel(&self) -> &'static Capabilities {
        self.channel
    }

    /// Returns whether the agent has a tool of this name.
    pub fn has(&self, name: &str) -> bool {
        self.definitions.iter().any(|known| known.name == name)
    }
}

#[cfg(test)]
mod tests {
    use flowsdk_core::session::Channel;
    use serde_json::json;

    use super::*;

    fn names(settings: &ToolSettings) -> Vec<String> {
        let toolset = Toolset::new(settings, Channel::Webchat.capabilities());
        toolset.definitions().iter().map(|tool| tool.name.clone()).collect()
    }

    fn flow(name: &str) -> FlowTool {
        FlowTool {
            flow_id: "flow".parse().expect("an id"),
            name: name.to_owned(),
            description: String::new(),
            parameters: json!({ "type": "object" }),
        }
    }

    #[test]
    fn an_agent_has_the_tools_of_its_settings() {
        let all = names(&ToolSettings::default());
        assert_eq!(all.len(), 14, "{all:?}");
        assert!(!all.contains(&"ragSearch".to_owned()) && !all.contains(&"updateSentiment".to_owned()));
        let few = ToolSettings {
            enabled: vec![NativeTool::EndAgentSession],
            has_knowledge: true,
            notes_sentiment: true,
            flows: vec![flow("orderStatus"), flow("orderStatus"), flow("ragSearch"), flow("setVariable")],
            ..ToolSettings::default()
        };
        let few = names(&few);
        assert_eq!(few[7..], ["endAgentSession", "ragSearch", "updateSentiment", "orderStatus"]);
    }

    #[test]
    fn an_agent_may_have_words_of_its_own() {
        let words = [(NativeTool::RagSearch, "Search the menu.".to_owned())];
        let settings =
            ToolSettings { has_knowledge: true, descriptions: words.into(), ..ToolSettings::default() };
        let toolset = Toolset::new(&settings, Channel::Phone.capabilities());
        let search = toolset.definitions().iter().find(|tool| tool.name == "ragSearch").expect("the tool");
        assert_eq!(search.description, "Search the menu.");
        assert!(toolset.has("ragSearch") && !toolset.has("updateSentiment"));
    }
}
