//! The transports under sockets. The protocol library lets a server leave a namespace, but not end the connection
//! under it, which a client could then hold for ever.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::body::Body;
use futures_util::FutureExt as _;
use http::{Method, Request, Uri};
use socketioxide::TransportType;
use socketioxide::adapter::Adapter;
use socketioxide::socket::Socket;
use tower::Service;

use crate::serve::HangUp;

/// Ends transports. A websocket is ended by the connection it came by, so only [`serve`](crate::serve::serve) makes
/// that possible; under another server it ends with its heartbeat.
#[derive(Clone)]
pub struct Transports(Arc<Inner>);

struct Inner {
    /// Ends the long polling of a session.
    end_polling: Box<dyn Fn(&str) + Send + Sync>,
    upgraded: Mutex<Upgraded>,
}

/// The connections of sessions that went from long polling to a websocket, by session.
#[derive(Default)]
struct Upgraded {
    connections: HashMap<String, HangUp>,
    /// At so many, those that have ended are looked for.
    sweep_at: usize,
}

/// Fewest connections that are worth a sweep.
const SWEEP_AT_LEAST: usize = 64;

impl fmt::Debug for Transports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Transports")
    }
}

impl Transports {
    /// The transports of the sessions of `service`, which is served at `path`.
    pub fn of<S>(service: S, path: &'static str) -> Self
    where
        S: Service<Request<Body>> + Clone + Send + Sync + 'static,
    {
        let end_polling = move |session: &str| {
            let address = format!("{path}/?EIO=4&transport=polling&sid={session}");
            if let Ok(address) = address.parse() {
                close(&mut service.clone(), address);
            }
        };
        Self(Arc::new(Inner { end_polling: Box::new(end_polling), upgraded: Mutex::default() }))
    }

    /// Notes that a session goes on over the websocket on this connection.
    pub(super) fn upgraded(&self, session: &str, connection: HangUp) {
        let mut upgraded = self.lock();
        if upgraded.connections.len() >= upgraded.sweep_at {
            upgraded.connections.retain(|_, connection| !connection.has_ended());
            upgraded.sweep_at = (2 * upgraded.connections.len()).max(SWEEP_AT_LEAST);
        }
        upgraded.connections.insert(session.to_owned(), connection);
    }

    /// Ends the transport of a socket that has left its namespace.
    pub fn end<A: Adapter>(&self, socket: &Socket<A>) {
        let session = socket.id.to_string();
        if socket.transport_type() == TransportType::Polling {
            return (self.0.end_polling)(&session);
        }
        let upgraded = self.lock().connections.remove(&session);
        // One that began as a websocket has the connection of its opening request.
        let opening = socket.req_parts();
        let began_so = opening.uri.query().is_some_and(|query| query.contains("transport=websocket"));
        let own = || opening.extensions.get::<HangUp>().filter(|_| began_so).cloned();
        if let Some(connection) = upgraded.or_else(own) {
            connection.hang_up();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Upgraded> {
        self.0.upgraded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Gives the library the client's close packet for the session of this address.
pub(super) fn close<S: Service<Request<Body>>>(service: &mut S, address: Uri) {
    let mut close = Request::new(Body::from("1"));
    *close.method_mut() = Method::POST;
    *close.uri_mut() = address;
    // The body is in memory, so the library handles the packet within one poll. A session that has moved to a
    // websocket meanwhile refuses the request and stays.
    let _ = service.call(close).now_or_never();
}
