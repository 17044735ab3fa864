//! From Socket.IO events to the commands.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use flowsdk_auth::permission::{Action, Resource};
use flowsdk_core::change::Author;
use flowsdk_core::context::OpContext;
use flowsdk_core::fault::{Chain, Fault as _};
use flowsdk_core::id::{RouterId, UserId};
use flowsdk_core::time::IsoTime;
use flowsdk_helpdesk::news::{DeskEventKind, Missed};
use serde_json::Value;
use socketioxide::extract::SocketRef;
use socketioxide::socket::DisconnectReason;
use tokio_util::sync::CancellationToken;

use super::command::Commands;
use super::hub::{Hub, Seat};
use super::payload::{Answer, Handshake, Numbering, Taken};
use crate::api::state::Authenticator;
use crate::socket::{Event, EventHandler, Transports, emit_checked};

/// The HTTP path of the socket.
pub(crate) const SOCKET_PATH: &str = "/desk/socket.io";
/// How long a client has to hang up by itself when it was sent away.
const LINGER: Duration = Duration::from_secs(1);

/// Handles the sockets of all desks.
pub(crate) struct DeskSocket {
    pub(crate) hub: Arc<Hub>,
    pub(crate) authenticator: Arc<Authenticator>,
    pub(crate) commands: Commands,
    pub(crate) cx: OpContext,
    pub(crate) trusted_proxies: u32,
    /// Ends the transports of sockets that have left, at the latest when this is cancelled.
    pub(crate) ends: (Transports, CancellationToken),
}

/// An agent whose token was looked at, before they join.
#[derive(Clone)]
struct Admitted {
    user: UserId,
    authorization: String,
    routers: Option<Vec<RouterId>>,
}

/// The desk of a socket, until it leaves.
#[derive(Clone)]
struct Place(Arc<(Arc<Seat>, Mutex<Option<u64>>)>);

impl DeskSocket {
    async fn admit(&self, auth: &Value) -> Result<Admitted, &'static str> {
        let token = Handshake::of(auth).token.ok_or("token_missing")?;
        let authorization = format!("Bearer {token}");
        let found = self.authenticator.authenticate(Some(&authorization)).await;
        let caller = found.map_err(|error| {
            tracing::debug!(error = %Chain(&error), "a desk was not let in");
            error.code()
        })?;
        let user = caller.require_user().map_err(|denied| denied.code())?.clone();
        let scope = caller.require(Resource::Helpdesk, Action::Read).map_err(|denied| denied.code())?;
        let routers = scope.reach().routers().map(<[RouterId]>::to_vec);
        Ok(Admitted { user, authorization, routers })
    }

    async fn enter(&self, socket: &SocketRef, admitted: Admitted, since: Option<i64>) {
        let Admitted { user, authorization, routers } = admitted;
        let missed = match self.hub.news().missed(&user, since).await {
            Ok(missed) => missed,
            Err(error) => {
                tracing::warn!(error = %Chain(&error), "a desk cannot be told what it has missed");
                if let Err(error) = socket.clone().disconnect() {
                    tracing::debug!(%error, "a desk was gone already");
                }
                return;
            }
        };
        let (sent, all) = match missed {
            Missed::From(sent) => (sent, false),
            Missed::Everything(last) => (last, true),
        };
        let now = self.cx.now();
        if all {
            let event = Numbering { seq: sent, at: IsoTime(now) };
            if emit_checked(socket, DeskEventKind::SyncRequired.name(), &event).is_err() {
                return;
            }
        }
        let seat = Arc::new(Seat::new(socket.clone(), user, authorization, routers, sent));
        let number = self.hub.join(Arc::clone(&seat));
        socket.extensions.insert(Place(Arc::new((Arc::clone(&seat), Mutex::new(Some(number))))));
        if let Err(error) = self.hub.tell_waiting(&[seat], now, true).await {
            tracing::debug!(error = %Chain(&error), "a desk is told later how many tickets wait");
        }
    }

    fn author(&self, socket: &SocketRef, user: &UserId) -> Author {
        let parts = socket.req_parts();
        let address = crate::caller::address(&parts.headers, &parts.extensions, self.trusted_proxies);
        Author { id: user.to_string(), ip: address.to_string(), user_agent: None }
    }
}

impl EventHandler for DeskSocket {
    /// A refused CONNECT has the code as its message: the protocol library has no place for more.
    async fn authorize(&self, socket: &SocketRef, auth: &Value) -> Result<(), String> {
        match self.admit(auth).await {
            Ok(admitted) => {
                socket.extensions.insert(admitted);
                Ok(())
            }
            Err(code) => {
                metrics::counter!("flowsdk_desk_auth_errors", "code" => code).increment(1);
                Err(code.to_owned())
            }
        }
    }

    async fn on_connect(&self, socket: &SocketRef, auth: Value) {
        if let Some(admitted) = socket.extensions.remove::<Admitted>() {
            self.enter(socket, admitted, Handshake::of(&auth).since).await;
        }
    }

    async fn on_event(&self, socket: &SocketRef, event: Event) {
        let Some(Place(place)) = socket.extensions.get::<Place>() else {
            if let Some(ack) = event.ack {
                ack.refuse("not_authenticated", "Não autenticado");
            }
            return;
        };
        let seat = &place.0;
        // What was taken away since they joined is gone with the next command.
        let outcome = match self.authenticator.authenticate(Some(&seat.authorization)).await {
            Ok(caller) => {
                let author = self.author(socket, &seat.user);
                self.commands.perform(&event.name, event.payload, seat, &caller, &author).await
            }
            Err(error) => Err(self.commands.refused(&error)),
        };
        let Some(ack) = event.ack else { return };
        match outcome {
            Ok(fields) => {
                if let Err(error) = ack.send(&Answer { taken: Taken { ok: true }, fields }) {
                    tracing::debug!(%error, "an ack was not sent");
                }
            }
            Err(refusal) => ack.refuse(refusal.code, &refusal.message),
        }
    }

    async fn on_disconnect(&self, socket: &SocketRef, reason: DisconnectReason) {
        if let Some(Place(place)) = socket.extensions.remove::<Place>() {
            let number = place.1.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(number) = number {
                self.hub.leave(number);
            }
            let seat = &place.0;
            if seat.watched.look_away()
                && let Err(error) = self.hub.viewers.look_away(seat.desk()).await
            {
                tracing::debug!(error = %Chain(&error), "others see a desk that has left for a while");
            }
        }
        // Any other reason is the end of the transport.
        if let DisconnectReason::ServerNSDisconnect | DisconnectReason::ClientNSDisconnect = reason {
            let (transports, stop) = &self.ends;
            let _stopped = stop.run_until_cancelled(tokio::time::sleep(LINGER)).await;
            transports.end(socket);
        }
    }
}
