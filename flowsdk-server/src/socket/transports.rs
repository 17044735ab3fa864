//! The transports under sockets. The protocol library lets a server leave a namespace, but not end the connection
//! under it, which a client could then hold for ever.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::Body;
use futures_util::FutureExt as _;
use http::{Method, Request, Uri};
use socketioxide::adapter::Adapter;
use socketioxide::socket::Socket;
use socketioxide::{SocketIo, TransportType};
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

/// Most slices in which the sockets of a server that stops are closed, and the time between two.
const SLICES: usize = 10;
const SLICE_PERIOD: Duration = Duration::from_millis(100);
/// Fewest sockets that are worth a slice.
const SLICE_AT_LEAST: usize = 20;

/// Returns how many of `sockets` are closed at once.
fn slice(sockets: usize) -> usize {
    sockets.div_ceil(SLICES).max(SLICE_AT_LEAST)
}

/// Closes the sockets of `io` one slice after the other, within about a second, so that their clients do not all
/// come to the next process at once; then all that have come meanwhile. To its client each looks like a connection
/// that broke, so it reconnects by itself.
pub async fn close_in_slices<A: Adapter>(io: &SocketIo<A>, transports: &Transports) {
    let sockets = io.sockets();
    let slices = sockets.chunks(slice(sockets.len()));
    for (index, slice) in slices.enumerate() {
        if index > 0 {
            tokio::time::sleep(SLICE_PERIOD).await;
        }
        slice.iter().for_each(|socket| transports.end(socket));
    }
    // A client that takes nothing holds its own end up only.
    if tokio::time::timeout(SLICE_PERIOD * 10, io.close()).await.is_err() {
        tracing::debug!("some sockets are not closed in order");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn however_many_sockets_there_are_they_are_closed_within_a_second() {
        for (sockets, slices) in
            [(0usize, 0), (1, 1), (20, 1), (21, 2), (200, 10), (10_000, 10), (10_001, 10)]
        {
            assert_eq!(sockets.div_ceil(slice(sockets)), slices, "{sockets}");
        }
    }
}
