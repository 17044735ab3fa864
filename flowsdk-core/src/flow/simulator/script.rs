//! The script: what the contact, the clock and the partners do, and what is expected.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::id::{BlockId, FlowId};

/// A script, as JSON.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Script {
    /// What it tests.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// The moment at which it begins, in ISO 8601; 2026-01-01T12:00:00Z without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now: Option<String>,
    /// The router's time zone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tz: Option<String>,
    /// The contact's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contact_name: Option<String>,
    /// The contact's variables.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub contact_variables: Map<String, Value>,
    /// Session variables at the beginning.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub variables: Map<String, Value>,
    /// `{{router.*}}`.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub router: Map<String, Value>,
    /// `{{flow.*}}` of the flow under test.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub flow: Map<String, Value>,
    /// What servers answer. The first that fits and was not used yet answers; the last that fits answers
    /// again and again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub http: Vec<HttpReply>,
    /// What scripts give back, chosen as `http` is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scripts: Vec<ScriptReply>,
    /// What happens, in order.
    pub steps: Vec<Step>,
}

/// A file of tests: a definition, what it leads to, and the scripts it is played against.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TestFile {
    /// Path of the definition, from the file.
    pub flow: String,
    /// Paths of other definitions, by the id of the flow.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub flows: BTreeMap<String, String>,
    /// The scripts.
    pub tests: Vec<Script>,
}

/// What a server answers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct HttpReply {
    /// It answers requests whose `METHOD address` contains this.
    pub to: String,
    /// The status; 200 without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The body.
    pub body: Value,
    /// The code of a failure, instead of an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fails: Option<String>,
}

/// What a script gives back.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ScriptReply {
    /// It answers scripts that contain this.
    pub to: String,
    /// The result.
    pub value: Value,
    /// The code of a failure, instead of a result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fails: Option<String>,
}

/// One step, and what is expected of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    /// What happens.
    #[serde(flatten)]
    pub does: Does,
    /// What is expected.
    #[serde(default)]
    pub expect: Expect,
}

/// What happens in a step: one field, which names it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Does {
    /// The contact writes.
    Say(String),
    /// The contact taps a button or row.
    Tap {
        /// Its id.
        id: String,
        /// Its title.
        #[serde(default)]
        title: String,
    },
    /// The contact sends a message of any type, phone-shaped.
    Send(Map<String, Value>),
    /// So many milliseconds pass, and what has run out rings.
    Wait(u64),
    /// The AI agent's part ends.
    AgentEnds {
        /// Why.
        #[serde(default)]
        reason: Option<String>,
    },
    /// The human's part ends, or did not begin.
    HumanEnds {
        /// The ticket.
        #[serde(default)]
        ticket: Option<Map<String, Value>>,
        /// Why it did not begin.
        #[serde(default)]
        deflect: Option<String>,
    },
    /// A redirect from outside.
    Redirect {
        /// The flow; without it the one under test.
        #[serde(default)]
        flow_id: Option<FlowId>,
        /// The block.
        block_id: BlockId,
        /// Whether it runs at once.
        #[serde(default = "yes")]
        execute_on_entry: bool,
    },
}

fn yes() -> bool {
    true
}

impl Does {
    /// The names of the steps.
    pub const NAMES: [&str; 7] = ["say", "tap", "send", "wait", "agentEnds", "humanEnds", "redirect"];

    /// The name of the step.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Say(_) => "say",
            Self::Tap { .. } => "tap",
            Self::Send(_) => "send",
            Self::Wait(_) => "wait",
            Self::AgentEnds { .. } => "agentEnds",
            Self::HumanEnds { .. } => "humanEnds",
            Self::Redirect { .. } => "redirect",
        }
    }
}

/// What is expected of a step; what is not given is not looked at.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Expect {
    /// The texts of the messages that are sent, in order; of other messages than texts their `type` in
    /// angle brackets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages: Option<Vec<String>>,
    /// The block on which the session stands after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block: Option<BlockId>,
    /// How it ends: `waiting`, `agent`, `human`, `ended`, or the code of the error that froze it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<String>,
    /// Session variables after it; those that are not named are not looked at, null is absent.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub variables: Map<String, Value>,
    /// The requests that were made: each `METHOD address` contains its text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<Vec<String>>,
}
