//! The description of one socket.

use std::collections::BTreeMap;

use serde_json::json;
use utoipa::ToSchema;
use utoipa::openapi::schema::{ObjectBuilder, SchemaType};
use utoipa::openapi::{RefOr, Schema};

use super::Schemas;
use super::objects::{Action, Channel, Message, Operation, Packet, Reference, Reply};
use crate::socket::event::Refused;

/// An event that the server receives.
pub(crate) struct Received {
    /// What it does.
    pub(crate) summary: &'static str,
    /// The first argument.
    pub(crate) payload: RefOr<Schema>,
    /// The answer where it is taken; `None` if it is never answered.
    pub(crate) answer: Option<RefOr<Schema>>,
}

/// An event that the server sends.
pub(crate) struct Sent {
    /// When it is sent.
    pub(crate) summary: &'static str,
    /// The first argument.
    pub(crate) payload: RefOr<Schema>,
    /// Whether the server may ask the client for an acknowledgement.
    pub(crate) is_acknowledged: bool,
}

/// A client that is let in.
#[derive(ToSchema)]
#[schema(as = Connected)]
#[allow(dead_code, reason = "the document is made of it")]
struct Connected {
    /// The id of the socket.
    sid: String,
}

/// A client that is not let in.
#[derive(ToSchema)]
#[schema(as = ConnectError)]
#[allow(dead_code, reason = "the document is made of it")]
struct ConnectError {
    /// The stable code of the reason, to branch on.
    #[schema(example = "token_invalid")]
    message: String,
}

/// A socket: its messages, and what the server does with them.
pub(crate) struct Socket {
    name: &'static str,
    channel: Channel,
    operations: BTreeMap<String, Operation>,
}

impl Socket {
    /// Returns a socket at this path whose clients say `auth` of themselves. Its refusals are those that `refusals`
    /// explains.
    pub(crate) fn new(
        (name, path): (&'static str, &'static str),
        (title, description): (&'static str, &'static str),
        (auth, refusals): (RefOr<Schema>, &'static str),
        schemas: &mut Schemas,
    ) -> Self {
        let query = json!({ "type": "object", "required": ["EIO", "transport"], "properties": {
            "EIO": { "type": "string", "enum": ["4"] },
            "transport": { "type": "string", "enum": ["polling", "websocket"] },
        } });
        let bindings = json!({ "ws": { "method": "GET", "query": query, "bindingVersion": "0.1.0" } });
        let messages = BTreeMap::new();
        let channel = Channel { address: path, title, description, messages, bindings };
        let mut socket = Self { name, channel, operations: BTreeMap::new() };
        let connect = socket.add("clientConnect", Packet::Connect, "connect", "Asks to be let in", auth);
        let connected = schemas.of::<Connected>();
        let summary = "The client is connected";
        let connected = socket.add("serverConnected", Packet::Connect, "connect", summary, connected);
        socket.operate("Connect", Action::Receive, "Connects", connect, vec![connected]);
        let refused = schemas.of::<Refused<'_>>();
        socket.add(REFUSED, Packet::Ack, "refused", refusals, refused);
        socket
    }

    /// Lets the server refuse to connect, for the reasons in `summary`.
    pub(crate) fn may_refuse_to_connect(&mut self, summary: &'static str, schemas: &mut Schemas) {
        let error = schemas.of::<ConnectError>();
        let error = self.add("serverConnectError", Packet::ConnectError, "connect_error", summary, error);
        if let Some(Operation { reply: Some(reply), .. }) = self.operations.get_mut(&self.id("Connect")) {
            reply.messages.push(error);
        }
    }

    /// Adds an event that the server receives.
    pub(crate) fn receives(&mut self, event: &'static str, Received { summary, payload, answer }: Received) {
        let name = pascal_case(event);
        let received = self.add(&format!("client{name}"), Packet::Event, event, summary, payload);
        let answers = answer.map(|answer| {
            let taken = self.add(&format!("answer{name}"), Packet::Ack, event, "It is taken", answer);
            vec![taken, self.message(REFUSED)]
        });
        self.operate(
            &format!("Client{name}"),
            Action::Receive,
            summary,
            received,
            answers.unwrap_or_default(),
        );
    }

    /// Adds an event that the server sends.
    pub(crate) fn sends(&mut self, event: &'static str, Sent { summary, payload, is_acknowledged }: Sent) {
        let name = pascal_case(event);
        let sent = self.add(&format!("server{name}"), Packet::Event, event, summary, payload);
        let mut answers = Vec::new();
        if is_acknowledged {
            let summary = "The client has it. The arguments are not looked at";
            let key = format!("client{name}Ack");
            let anything = ObjectBuilder::new().schema_type(SchemaType::AnyValue).into();
            answers.push(self.add(&key, Packet::Ack, event, summary, anything));
        }
        self.operate(&format!("Server{name}"), Action::Send, summary, sent, answers);
    }

    /// Returns the name of the socket, the socket, and what the server does.
    pub(super) fn finish(self) -> (&'static str, Channel, BTreeMap<String, Operation>) {
        (self.name, self.channel, self.operations)
    }

    fn add(
        &mut self,
        key: &str,
        packet: Packet,
        name: &'static str,
        summary: &'static str,
        payload: RefOr<Schema>,
    ) -> Reference {
        self.channel.messages.insert(key.to_owned(), Message { name, summary, payload, packet });
        self.message(key)
    }

    fn operate(
        &mut self,
        name: &str,
        action: Action,
        summary: &'static str,
        message: Reference,
        answers: Vec<Reference>,
    ) {
        let reply = Reply { channel: self.here(), messages: answers };
        let reply = Some(reply).filter(|reply| !reply.messages.is_empty());
        let operation = Operation { action, channel: self.here(), summary, messages: vec![message], reply };
        self.operations.insert(self.id(name), operation);
    }

    fn id(&self, name: &str) -> String {
        format!("{}{name}", self.name)
    }

    fn here(&self) -> Reference {
        Reference { to: format!("#/channels/{}", self.name) }
    }

    fn message(&self, key: &str) -> Reference {
        Reference { to: format!("#/channels/{}/messages/{key}", self.name) }
    }
}

/// The key of the answer to an event that is not taken.
const REFUSED: &str = "answerRefused";

/// Returns `ticket:message-status` as `TicketMessageStatus`.
fn pascal_case(event: &str) -> String {
    let words = event.split([':', '-', '_']);
    words
        .flat_map(|word| {
            let mut letters = word.chars();
            letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_events_as_identifiers() {
        for (event, expected) in [
            ("message", "Message"),
            ("auth_ok", "AuthOk"),
            ("ticket:message-status", "TicketMessageStatus"),
            ("ticket:window_expired", "TicketWindowExpired"),
        ] {
            assert_eq!(pascal_case(event), expected);
        }
    }
}
