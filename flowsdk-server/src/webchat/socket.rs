//! The webchat socket (spec B 4.2): from Socket.IO events to the services of the web chat.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use flowsdk_channels::webchat::client_event::ClientEvent;
use flowsdk_channels::webchat::inbound;
use flowsdk_channels::webchat::payload::{AuthErrorPayload, AuthOk, MessageAck, ServerEvent, StartAck};
use flowsdk_channels::webchat::{
    AUTH_ERROR_MESSAGE, Admissions, AuthError, Gateway, Handshake, HasWebchat, Ingress, IngressError, Limits,
    Visitor, Visitors,
};
use flowsdk_core::chat::StartOn;
use flowsdk_core::contact::HasContacts;
use flowsdk_core::fault::{Chain, Fault as _, StorageError};
use flowsdk_core::media::{HasMedia, MediaLinks};
use flowsdk_core::message::{HasMessages, IncomingMessage};
use flowsdk_core::session::HasSessions;
use flowsdk_core::store::Store;
use serde::Serialize;
use serde_json::Value;
use socketioxide::TransportType;
use socketioxide::extract::SocketRef;
use socketioxide::socket::DisconnectReason;
use tokio_util::sync::CancellationToken;

use super::caller;
use super::connection::SocketConnection;
use super::refusal::Refusal;
use super::standing::{NextChat, Standing};
use crate::socket::{Ack, Event, EventHandler, Newcomer, Transports, emit_checked};

/// The HTTP path of the socket.
pub const SOCKET_PATH: &str = "/webchat/socket.io";
/// Handles the sockets of all visitors.
pub struct WebchatSocket<S> {
    store: Arc<S>,
    visitors: Arc<Visitors<S>>,
    admissions: Arc<Admissions<S>>,
    gateway: Arc<Gateway>,
    ingress: Arc<dyn Ingress>,
    limits: Arc<Limits>,
    links: Arc<MediaLinks>,
    trusted_proxies: u32,
    /// Ends the transports of sockets that have left, at the latest when this is cancelled.
    ends: (Transports, CancellationToken),
}

/// Why a session does not begin when its visitor enters.
#[derive(Debug, thiserror::Error)]
enum OpenError {
    #[error("the chat cannot be read")]
    Storage(#[from] StorageError),
    #[error("the event is not taken")]
    Ingress(#[from] IngressError),
}

/// How long a client has to read why it was sent away, and to hang up by itself: packets on a websocket are under way
/// already, long polling has to fetch them.
const LINGER: Duration = Duration::from_secs(1);
const LINGER_POLLING: Duration = Duration::from_secs(5);

/// The state of one socket, kept with it until it leaves.
#[derive(Clone)]
struct Guest(Arc<GuestState>);

struct GuestState {
    visitor: Visitor,
    /// The seat in the room, the place among the visitor's sockets and the admission, given back at the end.
    held: Mutex<Option<Box<dyn std::any::Any + Send>>>,
}

impl<S: Store> WebchatSocket<S>
where
    S::Tx: HasWebchat + HasContacts + HasMessages + HasSessions + HasMedia,
{
    /// A handler over the services.
    pub fn new(
        store: Arc<S>,
        (visitors, admissions): (Arc<Visitors<S>>, Arc<Admissions<S>>),
        gateway: Arc<Gateway>,
        ingress: Arc<dyn Ingress>,
        (limits, links): (Arc<Limits>, Arc<MediaLinks>),
        trusted_proxies: u32,
        ends: (Transports, CancellationToken),
    ) -> Self {
        Self { store, visitors, admissions, gateway, ingress, limits, links, trusted_proxies, ends }
    }

    async fn enter(&self, socket: &SocketRef, auth: Value) -> Result<(), AuthError> {
        let parts = socket.req_parts();
        let (visitor, ok) = self
            .visitors
            .enter(
                &handshake(socket, auth),
                caller::of(&parts.headers, &parts.extensions, self.trusted_proxies),
            )
            .await?;
        let place = self.limits.admit_socket(&visitor.session_id).ok_or(AuthError::RateLimited)?;
        if let Some(newcomer) = parts.extensions.get::<Newcomer>() {
            newcomer.let_in();
        }
        let connection = Arc::new(SocketConnection {
            socket: socket.clone(),
            router: visitor.router_id.clone(),
            links: Arc::clone(&self.links),
        });
        let admission = self.admissions.note(&visitor, Arc::clone(&connection) as _);
        let seat = self.gateway.join(visitor.session_id.clone(), connection);
        // After it has joined: what changes from now on waits for it.
        let Standing { mode, had, missed } = Standing::read(&*self.store, &visitor).await?;
        if emit_checked(socket, ServerEvent::AuthOk.name(), &AuthOk { mode, ..ok }).is_err() {
            return Ok(());
        }
        seat.go_live(&had, &missed).await;
        let held: Box<dyn std::any::Any + Send> = Box::new((seat, place, admission));
        let guest = Guest(Arc::new(GuestState { visitor, held: Mutex::new(Some(held)) }));
        socket.extensions.insert(guest.clone());
        let visitor = &guest.0.visitor;
        if visitor.start_on == StartOn::Open
            && let Err(error) = self.open(visitor).await
        {
            // They may write, or come again.
            tracing::warn!(session = %visitor.session_id, error = %Chain(&error), "a session did not begin");
        }
        Ok(())
    }

    /// Begins the session of a visitor in whose chat nobody has written (rulings S22).
    async fn open(&self, visitor: &Visitor) -> Result<(), OpenError> {
        let chat = NextChat::read(&*self.store, visitor).await?;
        if chat.is_first && self.limits.admit_message(&visitor.session_id) {
            self.begin(visitor, &chat).await?;
        }
        Ok(())
    }

    /// Begins another session of a visitor whose last one has ended, without a message. While there is one, nothing
    /// happens.
    async fn start(&self, visitor: &Visitor) -> Result<StartAck, Refusal> {
        if visitor.start_on != StartOn::Open {
            return Err(Refusal::message_first());
        }
        if !self.limits.admit_message(&visitor.session_id) {
            return Err(Refusal::rate_limited());
        }
        let chat = NextChat::read(&*self.store, visitor).await;
        let chat = chat.map_err(|error| Refusal::unavailable(visitor, &error))?;
        self.begin(visitor, &chat).await.map_err(|error| Refusal::of_ingress(visitor, &error))?;
        Ok(StartAck { ok: true })
    }

    async fn begin(&self, visitor: &Visitor, chat: &NextChat) -> Result<(), IngressError> {
        let opening = visitor.opening(chat.newest, self.visitors.context());
        self.ingress.open(opening, &visitor.router_id).await
    }

    /// Returns the message of an event with a file that the visitor has uploaded.
    async fn with_file(&self, visitor: &Visitor, payload: Value) -> Result<IncomingMessage, Refusal> {
        let attached = inbound::media(payload)?;
        let found = async { self.store.glance().await?.media().find(&attached.media_id).await };
        let file = found.await.map_err(|error: StorageError| Refusal::unavailable(visitor, &error))?;
        Ok(attached.message(&visitor.session_id, file, self.visitors.context())?)
    }

    async fn take(
        &self,
        visitor: &Visitor,
        message: Result<IncomingMessage, impl Into<Refusal>>,
    ) -> Result<MessageAck, Refusal> {
        let message = message.map_err(Into::into)?;
        if !self.limits.admit_message(&visitor.session_id) {
            return Err(Refusal::rate_limited());
        }
        let event = visitor.incoming(message, self.visitors.context());
        match self.ingress.accept(event, &visitor.router_id).await {
            Ok(accepted) => Ok(MessageAck { ok: true, message_id: accepted.message_id }),
            Err(error) => Err(Refusal::of_ingress(visitor, &error)),
        }
    }
}

/// Answers a client, if it waits for an answer.
fn answer<T: Serialize>(ack: Option<Ack>, outcome: Result<T, Refusal>) {
    match (outcome, ack) {
        (Err(refusal), ack) => refusal.send(ack),
        (Ok(answer), Some(ack)) => {
            if let Err(error) = ack.send(&answer) {
                tracing::debug!(%error, "an ack was not sent");
            }
        }
        (Ok(_), None) => {}
    }
}

impl<S: Store> EventHandler for WebchatSocket<S>
where
    S::Tx: HasWebchat + HasContacts + HasMessages + HasSessions + HasMedia,
{
    async fn on_connect(&self, socket: &SocketRef, auth: Value) {
        let Err(error) = self.enter(socket, auth).await else {
            return;
        };
        // Of contention nobody has to be told: the client comes again.
        if let AuthError::Storage(error) = &error
            && !matches!(error, StorageError::Contention(_))
        {
            tracing::error!(error = %Chain(error), "a visitor could not be let in");
        } else {
            tracing::warn!(code = error.code(), %error, "a visitor was not let in");
        }
        metrics::counter!("flowsdk_webchat_auth_errors", "code" => error.code()).increment(1);
        let payload = AuthErrorPayload { message: AUTH_ERROR_MESSAGE, code: error.code() };
        if let Err(error) = emit_checked(socket, ServerEvent::AuthError.name(), &payload) {
            tracing::debug!(%error, "auth_error was not sent");
        }
        if let Err(error) = socket.clone().disconnect() {
            tracing::debug!(%error, "a refused socket was gone already");
        }
    }

    async fn on_event(&self, socket: &SocketRef, event: Event) {
        let Some(Guest(guest)) = socket.extensions.get::<Guest>() else {
            if let Some(ack) = event.ack {
                ack.refuse("not_authenticated", AUTH_ERROR_MESSAGE);
            }
            return;
        };
        let visitor = &guest.visitor;
        let cx = self.visitors.context();
        match ClientEvent::parse(&event.name) {
            Some(ClientEvent::Message) => {
                answer(event.ack, self.take(visitor, inbound::text(event.payload, cx)).await);
            }
            Some(ClientEvent::MessageInteractive) => {
                answer(event.ack, self.take(visitor, inbound::interactive(event.payload, cx)).await);
            }
            Some(ClientEvent::MessageMedia) => {
                let message = self.with_file(visitor, event.payload).await;
                answer(event.ack, self.take(visitor, message).await);
            }
            Some(ClientEvent::Start) => answer(event.ack, self.start(visitor).await),
            Some(ClientEvent::Read) => {
                if let Some(id) = inbound::read_message(event.payload)
                    && self.limits.admit_message(&visitor.session_id)
                {
                    self.gateway.read(&visitor.session_id, &id);
                }
            }
            // Nobody watches a visitor's typing yet.
            Some(ClientEvent::Typing) => {}
            None => {
                metrics::counter!("flowsdk_webchat_refused", "code" => "event_unknown").increment(1);
                if let Some(ack) = event.ack {
                    ack.refuse("event_unknown", "Evento desconhecido");
                }
            }
        }
    }

    async fn on_disconnect(&self, socket: &SocketRef, reason: DisconnectReason) {
        if let Some(Guest(guest)) = socket.extensions.remove::<Guest>() {
            drop(guest.held.lock().unwrap_or_else(PoisonError::into_inner).take());
        }
        // Any other reason is the end of the transport.
        if let DisconnectReason::ServerNSDisconnect | DisconnectReason::ClientNSDisconnect = reason {
            let (transports, stop) = &self.ends;
            let is_polling = socket.transport_type() == TransportType::Polling;
            let linger = if is_polling { LINGER_POLLING } else { LINGER };
            let _stopped = stop.run_until_cancelled(tokio::time::sleep(linger)).await;
            transports.end(socket);
        }
    }
}

/// The handshake of a socket: its `auth`, or the query `t` for the token. An unusable form is an
/// empty handshake, which leads to `channel_unknown`.
fn handshake(socket: &SocketRef, auth: Value) -> Handshake {
    // Serde alone would take a list of the fields' values for an object.
    let auth = Some(auth).filter(Value::is_object);
    let mut handshake: Handshake =
        auth.and_then(|auth| serde_json::from_value(auth).ok()).unwrap_or_default();
    if handshake.token.is_none() {
        let query = socket.req_parts().uri.query().unwrap_or_default();
        handshake.token = query
            .split('&')
            .find_map(|pair| pair.strip_prefix("t="))
            .filter(|token| !token.is_empty())
            .map(|token| token.to_owned().into());
    }
    handshake
}
