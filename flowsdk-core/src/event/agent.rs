//! `stream:agent`.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::id::{AgentId, ChatId, QueueId, RouterId, TicketId, UserId};
use crate::message::IncomingMessage;
use crate::session::SessionId;
use crate::time::Timestamp;

/// A request to an AI agent about a session: a union told apart by `kind`, which a turn does not have (spec B 2.5).
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum AgentEvent {
    /// The desk hands the session to a human (spec B 4.9).
    ManualHandoff(AgentManualHandoffEvent),
    /// The contact has been silent for too long: the executor ends the agent's part with
    /// `endAgentSession('inactivity')`, unless the contact wrote meanwhile (rulings S7).
    Inactivity(AgentNotice),
    /// The session was taken from the agent: a running turn stops, the AI ticket is closed (rulings S14).
    SessionLost(AgentNotice),
    /// A turn; the one payload without `kind`.
    #[serde(untagged)]
    Turn(AgentStreamEvent),
}

impl AgentEvent {
    /// The session it is about.
    pub fn session_id(&self) -> &SessionId {
        match self {
            Self::ManualHandoff(event) => &event.session_id,
            Self::Inactivity(event) | Self::SessionLost(event) => &event.session_id,
            Self::Turn(event) => &event.session_id,
        }
    }
}

/// Written by hand: a derived one would take an entry of an unknown `kind` for a turn.
impl<'de> Deserialize<'de> for AgentEvent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut fields = Map::deserialize(deserializer)?;
        let kind = fields.remove("kind");
        let fields = Value::Object(fields);
        match kind {
            None => serde_json::from_value(fields).map(Self::Turn),
            Some(kind) if kind == "manualHandoff" => serde_json::from_value(fields).map(Self::ManualHandoff),
            Some(kind) if kind == "inactivity" => serde_json::from_value(fields).map(Self::Inactivity),
            Some(kind) if kind == "sessionLost" => serde_json::from_value(fields).map(Self::SessionLost),
            Some(kind) => return Err(D::Error::custom(format!("unknown kind {kind}"))),
        }
        .map_err(D::Error::custom)
    }
}

/// A turn of an AI agent: the contact wrote, or an agent took over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentStreamEvent {
    /// The id of the session.
    pub session_id: SessionId,
    /// The id of the chat.
    pub chat_id: ChatId,
    /// The contact's address on the channel; E.164 without `+` on the phone.
    pub to: String,
    /// The number, account or `wc-<channelId>` that serves it.
    pub phone_number_id: String,
    /// The agent that is to answer.
    pub agent_id: AgentId,
    /// Turns after which the agent's part ends by force.
    pub max_messages: u32,
    /// The messages of the contact; empty on proactive transfers.
    pub messages: Vec<IncomingMessage>,
    /// The context that the agent before passes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handoff_context: Option<String>,
    /// The last text of the contact, on a transfer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_user_input: Option<String>,
    /// The session's `epoch` with this owner (rulings S14): an answer of the agent after the session has moved on
    /// is dropped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<i64>,
    /// When it was asked for.
    pub timestamp: Timestamp,
}

/// Something the agent of a session must know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentNotice {
    /// The id of the session.
    pub session_id: SessionId,
    /// The id of the chat.
    pub chat_id: ChatId,
    /// The contact's address on the channel.
    pub to: String,
    /// The number, account or `wc-<channelId>` that serves it.
    pub phone_number_id: String,
    /// The agent that has, or had, the session.
    pub agent_id: AgentId,
    /// Its AI ticket, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ticket_id: Option<TicketId>,
    /// The router of the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub router_id: Option<RouterId>,
    /// The session's `epoch` while this agent had it.
    pub epoch: i64,
    /// When the silence or the loss was noticed.
    pub timestamp: Timestamp,
}

/// The desk takes a session from its AI agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentManualHandoffEvent {
    /// The id of the session.
    pub session_id: SessionId,
    /// The id of the chat.
    pub chat_id: ChatId,
    /// The contact's address on the channel.
    pub to: String,
    /// The number, account or `wc-<channelId>` that serves it.
    pub phone_number_id: String,
    /// Becomes the preset queue of the handoff.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_id: Option<QueueId>,
    /// Becomes the preset user of the handoff.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<UserId>,
    /// Why, in the words of who asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The user of the desk who asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requested_by: Option<UserId>,
    /// The session's `epoch` of which it was asked (rulings S14); of another one it does nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<i64>,
    /// When it was asked for.
    pub timestamp: Timestamp,
}

#[cfg(test)]
mod tests {
    use crate::event::*;

    #[test]
    fn an_unknown_kind_is_no_turn() {
        let turn = serde_json::json!({ "sessionId": "wa-1-2", "chatId": "c1", "to": "2", "phoneNumberId": "1",
            "agentId": "a1", "maxMessages": 10, "messages": [], "timestamp": 1 });
        assert!(matches!(serde_json::from_value(turn.clone()), Ok(AgentEvent::Turn(_))));
        let mut other = turn;
        other["kind"] = "laterVersion".into();
        let error = serde_json::from_value::<AgentEvent>(other).expect_err("refused");
        assert!(error.to_string().contains("laterVersion"), "{error}");
    }
}
