//! What happens from one text of the customer to the next.

use std::fmt;

use flowsdk_agent::ledger::{AgentTurn, ModelAnswered};
use flowsdk_agent::model::Item;
use flowsdk_core::message::ContentMessage;
use serde_json::{Map, Value};

/// What happens from one text of the customer to the next.
#[derive(Debug, Default)]
pub(super) struct Scene {
    /// What the customer is told, by flow and agents.
    pub(super) texts: Vec<String>,
    /// What the agents call.
    pub(super) calls: Vec<Called>,
    /// The answers of models.
    pub(super) answers: Vec<ModelAnswered>,
    /// How many turns agents have.
    pub(super) turns: usize,
    /// How the agents' part ends, if it does.
    pub(super) end_reason: Option<String>,
    /// What goes wrong.
    pub(super) errors: Vec<String>,
}

/// A call of a tool.
#[derive(Debug)]
pub(super) struct Called {
    pub(super) tool: String,
    pub(super) arguments: Map<String, Value>,
}

impl fmt::Display for Called {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.tool, Value::Object(self.arguments.clone()))
    }
}

impl Scene {
    /// Notes a turn of an agent.
    pub(super) fn note_turn(&mut self, turn: AgentTurn) {
        self.turns += 1;
        for item in turn.items {
            if let Item::ToolCall(call) = item {
                let arguments = serde_json::from_str(&call.arguments).unwrap_or_default();
                self.calls.push(Called { tool: call.name, arguments });
            }
        }
        self.answers.extend(turn.answers);
        self.errors.extend(turn.error.map(|error| format!("the turn of {} failed: {error}", turn.agent_id)));
        if turn.end_reason.as_deref() == Some("transferToHuman") {
            self.end_reason = turn.end_reason;
        }
    }
}

/// Returns a message as a customer reads it: its text, with the titles of its buttons or rows in brackets.
pub(super) fn shown(content: &ContentMessage) -> String {
    let json = serde_json::to_value(content).unwrap_or_default();
    let action = &json["interactive"]["action"];
    let buttons = action["buttons"].as_array().into_iter().flatten().map(|button| &button["reply"]["title"]);
    let rows = action["sections"].as_array().into_iter().flatten();
    let rows = rows.flat_map(|section| section["rows"].as_array().into_iter().flatten());
    let titles = buttons.chain(rows.map(|row| &row["title"])).filter_map(Value::as_str);
    let titles = titles.map(|title| format!(" [{title}]"));
    let body = content
        .body()
        .map_or_else(|| format!("({})", json["type"].as_str().unwrap_or("file")), str::to_owned);
    titles.fold(body, |shown, title| shown + &title)
}
