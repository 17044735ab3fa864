//! The input and the answer of a handler of socket events.

use std::{future::Future, marker::PhantomData, sync::Arc};

use bytes::Bytes;
use serde::Serialize;
use serde_json::{Value, json};
use socketioxide::{
    adapter::{Adapter, LocalAdapter},
    extract::{AckSender, SocketRef},
    handler::{FromMessageParts, Value as RawValue},
    socket::{DisconnectReason, Socket},
};
use utoipa::ToSchema;

use super::emit::EmitError;

/// One event of a client.
#[derive(Debug)]
pub struct Event<A: Adapter = LocalAdapter> {
    /// Name of the event.
    pub name: String,
    /// First argument, `null` when there is none.
    pub payload: Value,
    /// Arguments after the first.
    pub rest: Vec<Value>,
    /// Binary attachments; the arguments hold `{"_placeholder":true,"num":n}` in their places.
    pub attachments: Vec<Bytes>,
    /// Present when the client waits for an answer.
    pub ack: Option<Ack<A>>,
}

/// The answer a client waits for.
pub struct Ack<A: Adapter = LocalAdapter>(AckSender<A>);

impl<A: Adapter> Ack<A> {
    pub(super) fn new(socket: &Arc<Socket<A>>, id: Option<i64>) -> Option<Self> {
        id?;
        let Ok(sender) = AckSender::from_message_parts(socket, &mut RawValue::Bytes(Bytes::new()), &id);
        Some(Self(sender))
    }

    /// Answers. A tuple becomes several arguments, anything else one.
    ///
    /// # Errors
    /// See [`EmitError`]; the loss is counted like that of an emit.
    pub fn send<T: Serialize + ?Sized>(self, data: &T) -> Result<(), EmitError> {
        self.0.send(data).map_err(EmitError::counted)
    }

    /// Answers `{ ok: false, code, message }`; a loss is counted.
    pub fn refuse(self, code: &str, message: &str) {
        if let Err(error) = self.send(&Refused { ok: false, code, message }) {
            tracing::debug!(%error, code, "refusal not sent");
        }
    }
}

impl<A: Adapter> std::fmt::Debug for Ack<A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Ack")
    }
}

/// The answer to an event that is not taken.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Refusal)]
pub(crate) struct Refused<'a> {
    /// Always `false`: only a refused event has this answer.
    #[schema(schema_with = flowsdk_core::schema::refused)]
    ok: bool,
    /// Stable, to branch on.
    #[schema(example = "rate_limited")]
    code: &'a str,
    /// For people.
    #[schema(example = "Muitas mensagens, aguarde um momento")]
    message: &'a str,
}

/// Handles the life of the sockets of one namespace. For one socket the calls never overlap and come in order:
/// `on_connect`, every `on_event` in the order of arrival, `on_disconnect`.
///
/// One handler serves all sockets; keep the state of one socket in `socket.extensions` or keyed by `socket.id`.
/// A call that hangs stops its socket, so every call bounds its own waiting.
pub trait EventHandler<A: Adapter = LocalAdapter>: Send + Sync + 'static {
    /// Decides before the namespace is joined; an `Err` becomes a `CONNECT_ERROR` with this message. The protocol
    /// library has no place for `data` beside the message, so a structured refusal is better made in
    /// [`on_connect`](Self::on_connect): emit it, then disconnect.
    fn authorize(
        &self,
        socket: &SocketRef<A>,
        auth: &Value,
    ) -> impl Future<Output = Result<(), String>> + Send {
        let _ = (socket, auth);
        async { Ok(()) }
    }

    /// The socket has joined. Its events wait until this returns. The future is dropped when the socket leaves meanwhile;
    /// [`on_disconnect`](Self::on_disconnect) follows all the same.
    fn on_connect(&self, socket: &SocketRef<A>, auth: Value) -> impl Future<Output = ()> + Send {
        let _ = (socket, auth);
        async {}
    }

    /// An event of any name.
    fn on_event(&self, socket: &SocketRef<A>, event: Event<A>) -> impl Future<Output = ()> + Send;

    /// The socket has left; it is out of its rooms already.
    fn on_disconnect(
        &self,
        socket: &SocketRef<A>,
        reason: DisconnectReason,
    ) -> impl Future<Output = ()> + Send {
        let _ = (socket, reason);
        async {}
    }
}

/// An [`EventHandler`] of one async closure, see [`handler_fn`].
pub struct HandlerFn<F, A>(F, PhantomData<fn(A)>);

/// Makes a handler of `async |socket, event| { .. }`.
pub fn handler_fn<A, F, Fut>(f: F) -> HandlerFn<F, A>
where
    A: Adapter,
    F: Fn(SocketRef<A>, Event<A>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = ()> + Send,
{
    HandlerFn(f, PhantomData)
}

impl<A, F, Fut> EventHandler<A> for HandlerFn<F, A>
where
    A: Adapter,
    F: Fn(SocketRef<A>, Event<A>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = ()> + Send,
{
    async fn on_event(&self, socket: &SocketRef<A>, event: Event<A>) {
        (self.0)(socket.clone(), event).await;
    }
}

/// Reads `["name", arg, ..]`. `serde_json` refuses more than 127 nested levels, so a hostile payload is an `Err`.
pub(super) fn parse<A: Adapter>(
    raw: RawValue,
    ack: Option<Ack<A>>,
) -> Result<Event<A>, (Option<Ack<A>>, String)> {
    let RawValue::Str(text, attachments) = raw else {
        return Err((ack, "binary packets are not understood".to_owned()));
    };
    let mut args = match serde_json::from_str::<Vec<Value>>(text.as_str()) {
        Ok(args) => args.into_iter(),
        Err(error) => return Err((ack, error.to_string())),
    };
    let Some(Value::String(name)) = args.next() else {
        return Err((ack, "the event has no name".to_owned()));
    };
    Ok(Event {
        name,
        payload: args.next().unwrap_or_default(),
        rest: args.collect(),
        attachments: attachments.map(Vec::from).unwrap_or_default(),
        ack,
    })
}

/// Reads the `auth` of a CONNECT packet; absent is `{}`, as in the reference server.
pub(super) fn parse_auth(raw: Option<&RawValue>) -> Result<Value, String> {
    match raw {
        None => Ok(json!({})),
        Some(RawValue::Str(text, _)) => {
            serde_json::from_str(text.as_str()).map_err(|_| "invalid auth payload".to_owned())
        }
        Some(RawValue::Bytes(_)) => Err("invalid auth payload".to_owned()),
    }
}
