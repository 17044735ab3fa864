//! `stream:incoming`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::id::FlowId;
use crate::message::IncomingMessage;
use crate::session::{Channel, SessionId};
use crate::time::Timestamp;

/// Messages of one contact, from a gateway to the orchestrator (spec B 6).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IncomingEvent {
    /// The channel on which the contact wrote.
    pub channel_type: Channel,
    /// The id of the session.
    pub session_id: SessionId,
    /// The number, account or `wc-<channelId>` that was written to.
    pub phone_number_id: String,
    /// The contact who wrote; absent for phone users without a number (rulings C5).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Other identities of the same contact, as the channel tells them: the provider writes a number in two ways, or has an
    /// id of its own for the user (rulings C5).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// The channel's profile name of the contact.
    pub contact_name: String,
    /// The messages, in order.
    pub messages: Vec<IncomingMessage>,
    /// When the gateway took them.
    pub timestamp: Timestamp,
    /// Session variables that seed a new session: the context of an embed token (spec B 4.3).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<Map<String, Value>>,
    /// The flow an embed token asks for; ignored when it is of another router (spec B 4.3).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow_id: Option<FlowId>,
    /// The contact has entered the chat, and wrote nothing: the [`seq`](crate::message::Message::seq) of its newest message
    /// then, 0 in a new chat. A session begins if there is none and nobody has written since (rulings S22).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opened_after: Option<i64>,
}

impl IncomingEvent {
    /// Returns the channel's id of the message that the first message answers, where it says so.
    pub fn answered(&self) -> Option<&str> {
        self.messages.first()?.beside.get("context")?.get("id")?.as_str()
    }

    /// Returns whether it has the name of a profile, which the contact follows (rulings S23). Visitors of the web chat are
    /// named when they are let in; without a profile the name is the identity.
    pub fn names_contact(&self) -> bool {
        let id = &self.session_id;
        id.channel() != Channel::Webchat && self.contact_name != id.party()
    }

    /// Returns whether the contact has entered the chat without a message.
    pub fn is_opening(&self) -> bool {
        self.opened_after.is_some() && self.messages.is_empty()
    }
}
