//! The set as it is written.

use std::collections::BTreeSet;

use flowsdk_core::id::AgentId;
use serde::Deserialize;

use crate::agent::AgentType;
use crate::guardrail::GuardrailRules;
use crate::knowledge::MediaType;
use crate::tool::{NativeTool, ToolKind};

/// Agents with all that they need. Fields that are not known are errors.
///
/// ```
/// use flowsdk_agent::set::AgentSet;
///
/// let set = AgentSet::from_json(r#"{
///     "agents": [{ "id": "sales", "prompt": "You sell tea." }, { "id": "care", "prompt": "You help." }],
///     "routes": [{ "from": "sales", "to": "care", "description": "Complaints" }],
///     "documents": [{ "name": "Menu", "text": "Green tea is 12 reais." }]
/// }"#)?;
/// assert_eq!(set.agents.len(), 2);
/// # Ok::<(), flowsdk_agent::set::InvalidAgentSet>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AgentSet {
    /// The agents.
    pub agents: Vec<SetAgent>,
    /// The ways from one agent to another.
    #[serde(default)]
    pub routes: Vec<SetRoute>,
    /// What they know.
    #[serde(default)]
    pub documents: Vec<SetDocument>,
}

/// An agent of a set.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SetAgent {
    /// The id, which agent blocks of flows and calls of `transferToAgent` name.
    pub id: AgentId,
    /// The name that users see; without one, the id.
    #[serde(default)]
    pub name: Option<String>,
    /// What it is for: not `system`.
    #[serde(rename = "type", default = "specialist")]
    pub agent_type: AgentType,
    /// When a conversation is to go to it.
    #[serde(default)]
    pub description: String,
    /// The provider's name of the model.
    #[serde(default = "scripted")]
    pub model: String,
    /// What it is told.
    pub prompt: String,
    /// What it must not do.
    #[serde(default)]
    pub guardrails: Vec<String>,
    /// What is enforced of what it writes; none is nothing.
    #[serde(default)]
    pub rules: Option<GuardrailRules>,
    /// The action tools that it may call; none means all.
    #[serde(default)]
    pub tools: Vec<NativeTool>,
    /// The tags of the documents that it searches; none means all.
    #[serde(default)]
    pub rag_tags: Vec<String>,
    /// Most tokens of one answer.
    #[serde(default)]
    pub max_output_tokens: Option<u32>,
}

/// A way from one agent of a set to another.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SetRoute {
    /// The agent that may hand its conversations on.
    pub from: AgentId,
    /// The agent that gets them.
    pub to: AgentId,
    /// When they are to go there; an empty text is the description of that agent.
    #[serde(default)]
    pub description: String,
}

/// A document of a set.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SetDocument {
    /// Its name, unique in the set.
    pub name: String,
    /// Its tags.
    #[serde(default)]
    pub tags: Vec<String>,
    /// What `text` is.
    #[serde(default = "plain")]
    pub media_type: MediaType,
    /// What it says.
    pub text: String,
}

fn specialist() -> AgentType {
    AgentType::Specialist
}

fn scripted() -> String {
    "scripted".to_owned()
}

fn plain() -> MediaType {
    MediaType::Text
}

/// A set that cannot be used. The text says where and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidAgentSet(String);

impl AgentSet {
    /// Reads a set of JSON, and [checks](Self::check) it.
    ///
    /// # Errors
    /// [`InvalidAgentSet`] names the place.
    pub fn from_json(text: &str) -> Result<Self, InvalidAgentSet> {
        let mut reader = serde_json::Deserializer::from_str(text);
        let set: Self = serde_path_to_error::deserialize(&mut reader)
            .map_err(|error| InvalidAgentSet(format!("{}: {}", error.path(), error.inner())))?;
        reader.end().map_err(|error| InvalidAgentSet(error.to_string()))?;
        set.check()?;
        Ok(set)
    }

    /// Checks what its form cannot express: ids and names are unique, routes lead from one agent of the set to another, nothing is
    /// blank, and no agent is of type `system`.
    ///
    /// # Errors
    /// [`InvalidAgentSet`] names the place.
    pub fn check(&self) -> Result<(), InvalidAgentSet> {
        let fails = |place: String, why: &str| Err(InvalidAgentSet(format!("{place}: {why}")));
        if self.agents.is_empty() {
            return fails("agents".to_owned(), "expected at least one");
        }
        let mut ids = BTreeSet::new();
        for (at, agent) in self.agents.iter().enumerate() {
            if !ids.insert(&agent.id) {
                return fails(format!("agents[{at}].id"), "another agent has it");
            }
            if agent.prompt.trim().is_empty() {
                return fails(format!("agents[{at}].prompt"), "may not be empty");
            }
            if agent.agent_type == AgentType::System {
                return fails(format!("agents[{at}].type"), "such an agent has no conversations");
            }
            if agent.tools.iter().any(|tool| tool.kind() != ToolKind::Action) {
                return fails(format!("agents[{at}].tools"), "only action tools can be chosen");
            }
            let flaws = agent.rules.as_ref().map(|rules| rules.flaws(true)).unwrap_or_default();
            if let Some((field, why)) = flaws.first() {
                return fails(format!("agents[{at}].{field}"), why.english());
            }
        }
        let mut pairs = BTreeSet::new();
        for (at, route) in self.routes.iter().enumerate() {
            let place = format!("routes[{at}]");
            if !ids.contains(&route.from) || !ids.contains(&route.to) {
                return fails(place, "there is no such agent in the set");
            }
            if route.from == route.to || !pairs.insert((&route.from, &route.to)) {
                return fails(place, "expected one route between two agents in each direction");
            }
        }
        let mut names = BTreeSet::new();
        for (at, document) in self.documents.iter().enumerate() {
            if document.name.trim().is_empty() || !names.insert(&document.name) {
                return fails(format!("documents[{at}].name"), "expected a name that no other document has");
            }
            if document.media_type == MediaType::Pdf {
                return fails(format!("documents[{at}].mediaType"), "a PDF is no text");
            }
            if document.text.trim().is_empty() || document.text.len() > document.media_type.most() {
                return fails(format!("documents[{at}].text"), "empty, or too large");
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(text: &str) -> String {
        AgentSet::from_json(text).expect_err("it cannot be used").to_string()
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        let sales = r#"{ "id": "sales", "prompt": "You sell." }"#;
        for (text, expected) in [
            (r#"{ "agents": [] }"#.to_owned(), "agents: expected at least one"),
            (format!(r#"{{ "agents": [{sales}, {sales}] }}"#), "agents[1].id: another agent has it"),
            (r#"{ "agents": [{ "id": "a", "promt": "x" }] }"#.to_owned(), "unknown field `promt`"),
            (
                r#"{ "agents": [{ "id": "a", "prompt": " " }] }"#.to_owned(),
                "agents[0].prompt: may not be empty",
            ),
            (
                r#"{ "agents": [{ "id": "a", "prompt": "x", "type": "system" }] }"#.to_owned(),
                "agents[0].type: such",
            ),
            (
                r#"{ "agents": [{ "id": "a", "prompt": "x", "tools": ["ragSearch"] }] }"#.to_owned(),
                "agents[0].tools: only",
            ),
            (
                r#"{ "agents": [{ "id": "a", "prompt": "x", "rules": { "forbiddenPatterns": ["("] } }] }"#
                    .to_owned(),
                "agents[0].rules.forbiddenPatterns[0]: ",
            ),
            (
                format!(r#"{{ "agents": [{sales}], "routes": [{{ "from": "sales", "to": "gone" }}] }}"#),
                "routes[0]: there is no such agent",
            ),
            (
                format!(r#"{{ "agents": [{sales}], "routes": [{{ "from": "sales", "to": "sales" }}] }}"#),
                "routes[0]: expected one route",
            ),
            (
                format!(r#"{{ "agents": [{sales}], "documents": [{{ "name": "Menu", "text": "" }}] }}"#),
                "documents[0].text: empty",
            ),
        ] {
            assert!(why(&text).contains(expected), "{text}: {}", why(&text));
        }
    }
}
