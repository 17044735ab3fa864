//! The script: the actions of the contact, the clock and the partners, and the expectations.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::event::HandoffDeflect;
use crate::id::{BlockId, FlowId};

/// A script, as JSON.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct Script {
    /// The rule or case that the script tests.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// The moment at which it begins, in ISO 8601; 2026-01-01T12:00:00Z without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now: Option<String>,
    /// The router's time zone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tz: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contact_name: Option<String>,
    /// The contact's variables at the beginning.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub contact_variables: Map<String, Value>,
    /// Session variables at the beginning.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub variables: Map<String, Value>,
    /// Static variables that `{{router.*}}` reads.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub router: Map<String, Value>,
    /// `{{flow.*}}` of the flow under test.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub flow: Map<String, Value>,
    /// The replies of servers. The first unused reply that fits answers; the last one that fits answers repeatedly.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub http: Vec<HttpReply>,
    /// The results of scripts, chosen as `http` is. A script without one is run where something can run it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scripts: Vec<ScriptReply>,
    /// The steps, in order.
    pub steps: Vec<Step>,
}

/// A file of tests: a definition, its surroundings, and the scripts that play against it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TestFile {
    /// Path of the definition, from the file.
    pub flow: String,
    /// Paths of other definitions, by the id of the flow.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub flows: BTreeMap<String, String>,
    /// The scripts, each independent of the others.
    pub tests: Vec<Script>,
}

/// The reply of a server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct HttpReply {
    /// It answers requests whose `METHOD address` contains this.
    pub to: String,
    /// The status; 200 without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The body, as JSON.
    pub body: Value,
    /// The code of a failure, instead of an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fails: Option<String>,
}

/// The result of a script of the flow.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ScriptReply {
    /// It answers scripts that contain this.
    pub to: String,
    /// The value that the script returns.
    pub value: Value,
    /// The code of a failure, instead of a result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fails: Option<String>,
}

/// One step, and its expectations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    /// The event of this step.
    #[serde(flatten)]
    pub does: Does,
    /// The expected state after the step.
    #[serde(default)]
    pub expect: Expect,
}

/// The event of a step: one field, which names it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Does {
    /// The contact writes this text.
    Say(String),
    /// The contact taps a button or row.
    Tap {
        /// The id of the tapped reply.
        id: String,
        /// The title of the tapped reply.
        #[serde(default)]
        title: String,
    },
    /// The contact sends a message of any type, phone-shaped.
    Send(Map<String, Value>),
    /// This many milliseconds pass, and the timers that are due fire.
    Wait(u64),
    /// The AI agent's part ends.
    AgentEnds {
        /// The `agentEndReason` of the hand-back.
        #[serde(default)]
        reason: Option<String>,
    },
    /// The human's part ends, or did not begin.
    HumanEnds {
        /// The ticket, as the helpdesk reports it.
        #[serde(default)]
        ticket: Option<Map<String, Value>>,
        /// Why it did not begin.
        #[serde(default)]
        deflect: Option<Deflect>,
    },
    /// A redirect from outside.
    Redirect {
        /// The flow; without it the one under test.
        #[serde(default)]
        flow_id: Option<FlowId>,
        /// The block to which the session is redirected.
        block_id: BlockId,
        /// Whether it runs at once.
        #[serde(default = "crate::default::yes")]
        execute_on_entry: bool,
    },
}

/// Why human attendance did not begin: its reason alone, or with the words for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a reason such as \"noAgent\", or { \"reason\": \"noAgent\", \"detail\": \"...\" }"
)]
pub enum Deflect {
    /// The reason in one word.
    Reason(String),
    /// The reason, as the helpdesk reports it.
    Whole(HandoffDeflect),
}

impl From<Deflect> for HandoffDeflect {
    fn from(deflect: Deflect) -> Self {
        match deflect {
            Deflect::Reason(reason) => Self { reason, ..Self::default() },
            Deflect::Whole(whole) => whole,
        }
    }
}

impl Does {
    /// The names of the steps.
    pub const NAMES: [&str; 7] = ["say", "tap", "send", "wait", "agentEnds", "humanEnds", "redirect"];

    /// Returns the name of the step.
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

/// The expectations of a step; an absent one is not compared.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Expect {
    /// The texts of the messages that are sent, in order: of buttons and lists the body and each title in square
    /// brackets, as in `Which? [Red] [Blue]`. The `type` in angle brackets, as in `<image>`, fits any message of it.
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
