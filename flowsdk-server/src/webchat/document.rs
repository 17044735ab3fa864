//! The socket of the web chat in the document of the sockets.

use flowsdk_channels::webchat::Handshake;
use flowsdk_channels::webchat::client_event::{
    ClientEvent, InteractivePayload, MediaPayload, ReadPayload, TextPayload,
};
use flowsdk_channels::webchat::payload::{
    AuthErrorPayload, AuthOk, MessageAck, ServerEvent, ServerMessage, SessionOwner, StartAck, Typing,
};
use utoipa::ToSchema;

use super::SOCKET_PATH;
use crate::api::asyncapi::{Received, Schemas, Sent, Socket};

const DESCRIPTION: &str = "\
Visitors of a web chat channel. Every client is connected; then it is sent either `auth_ok` or `auth_error`. After the latter the \
server disconnects.\n\n\
A client that names the last message it has in `since` is sent what it has missed right after `auth_ok`. The token may be in the \
query instead, as `t`.";
const REFUSALS: &str = "\
It is not taken. `code` is `unavailable`, `rate_limited`, `internal_error` or `closed`, after which the client may try again, or \
`text_empty`, `text_too_long`, `caption_too_long`, `media_unknown`, `payload_invalid`, `client_message_id_invalid`, \
`invalid_payload`, `message_first` (`start`), `event_unknown` or `not_authenticated`";

/// Describes the socket.
pub(crate) fn describe(schemas: &mut Schemas) -> Socket {
    let handshake = schemas.of::<Handshake>();
    let title = ("The web chat", DESCRIPTION);
    let mut webchat = Socket::new(("webchat", SOCKET_PATH), title, (handshake, REFUSALS), schemas);
    for event in ClientEvent::ALL {
        webchat.receives(event.name(), received(event, schemas));
    }
    for event in ServerEvent::ALL {
        webchat.sends(event.name(), sent(event, schemas));
    }
    webchat
}

/// No fields. Those that are there are not looked at, and the payload may be left out.
#[derive(ToSchema)]
#[allow(dead_code, reason = "the document is made of it")]
struct Anything {}

fn received(event: ClientEvent, schemas: &mut Schemas) -> Received {
    let message = Some(schemas.of::<MessageAck>());
    let (summary, payload, answer) = match event {
        ClientEvent::Message => ("The visitor wrote", schemas.of::<TextPayload>(), message),
        ClientEvent::MessageInteractive => {
            ("The visitor tapped a button, or chose a row", schemas.of::<InteractivePayload>(), message)
        }
        ClientEvent::MessageMedia => {
            ("The visitor sends a file that they have uploaded", schemas.of::<MediaPayload>(), message)
        }
        ClientEvent::Start => (
            "Begins another session after the end of the last one, without a message; on channels with `startOn` `open`",
            schemas.of::<Anything>(),
            Some(schemas.of::<StartAck>()),
        ),
        ClientEvent::Read => ("The visitor has seen a message", schemas.of::<ReadPayload>(), None),
        ClientEvent::Typing => ("The visitor types. It is ignored", schemas.of::<Anything>(), None),
    };
    Received { summary, payload, answer }
}

fn sent(event: ServerEvent, schemas: &mut Schemas) -> Sent {
    let (summary, payload, is_acknowledged) = match event {
        ServerEvent::AuthOk => ("The visitor is let in", schemas.of::<AuthOk>(), false),
        ServerEvent::AuthError => ("The visitor is not let in", schemas.of::<AuthErrorPayload>(), false),
        ServerEvent::Message => ("A message to the visitor", schemas.of::<ServerMessage>(), true),
        ServerEvent::Typing => {
            ("An answer is being prepared. It may get lost", schemas.of::<Typing>(), false)
        }
        ServerEvent::Session => (
            "The session has another owner, or has ended. It may get lost",
            schemas.of::<SessionOwner>(),
            false,
        ),
    };
    Sent { summary, payload, is_acknowledged }
}
