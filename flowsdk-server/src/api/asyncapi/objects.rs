//! The objects of the document (<https://www.asyncapi.com/docs/reference/specification/v3.0.0>).

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};
use utoipa::openapi::{RefOr, Schema};

const DESCRIPTION: &str = "\
The web chat and the desk of agents, over Socket.IO: protocol 5, Engine.IO 4, namespace `/`, by websocket or long polling.\n\n\
`x-socketio-packet` of a message says what it is: `EVENT` is the event of its `name` with the payload as its only argument, `ACK` \
the argument of its acknowledgement, `CONNECT` the `auth` of the client or what the server says to it, `CONNECT_ERROR` the \
error of a client that is not let in. The server receives what the client emits, and sends what the client listens to. It \
replies to an event only if the client asks for an acknowledgement.";

/// The document of the sockets.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Document {
    asyncapi: &'static str,
    info: Value,
    servers: Value,
    default_content_type: &'static str,
    pub(super) channels: BTreeMap<&'static str, Channel>,
    pub(super) operations: BTreeMap<String, Operation>,
    pub(super) components: Components,
}

impl Document {
    /// Returns a document without sockets.
    pub(super) fn new() -> Self {
        let server = |protocol: &str| {
            let host =
                json!({ "default": "localhost:8080", "description": "Where this server can be reached." });
            json!({ "host": "{host}", "protocol": protocol, "variables": { "host": host } })
        };
        Self {
            asyncapi: "3.0.0",
            info: json!({
                "title": "FlowSDK sockets",
                "version": env!("CARGO_PKG_VERSION"),
                "description": DESCRIPTION,
                "license": { "name": "MIT OR Apache-2.0" },
            }),
            servers: json!({ "plain": server("ws"), "secure": server("wss") }),
            default_content_type: "application/json",
            channels: BTreeMap::new(),
            operations: BTreeMap::new(),
            components: Components::default(),
        }
    }
}

/// A socket.
#[derive(Serialize)]
pub(super) struct Channel {
    pub(super) address: &'static str,
    pub(super) title: &'static str,
    pub(super) description: &'static str,
    pub(super) messages: BTreeMap<String, Message>,
    pub(super) bindings: Value,
}

/// A packet.
#[derive(Serialize)]
pub(super) struct Message {
    pub(super) name: &'static str,
    pub(super) summary: &'static str,
    pub(super) payload: RefOr<Schema>,
    #[serde(rename = "x-socketio-packet")]
    pub(super) packet: Packet,
}

/// What a packet is.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(super) enum Packet {
    Connect,
    ConnectError,
    Event,
    Ack,
}

/// What the server does with a message.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Action {
    Receive,
    Send,
}

/// A message and its reply.
#[derive(Serialize)]
pub(super) struct Operation {
    pub(super) action: Action,
    pub(super) channel: Reference,
    pub(super) summary: &'static str,
    pub(super) messages: Vec<Reference>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reply: Option<Reply>,
}

/// The reply, on the same socket: one of these messages.
#[derive(Serialize)]
pub(super) struct Reply {
    pub(super) channel: Reference,
    pub(super) messages: Vec<Reference>,
}

/// A place in the document.
#[derive(Serialize)]
pub(super) struct Reference {
    #[serde(rename = "$ref")]
    pub(super) to: String,
}

/// What messages refer to.
#[derive(Default, Serialize)]
pub(super) struct Components {
    pub(super) schemas: BTreeMap<String, RefOr<Schema>>,
}
