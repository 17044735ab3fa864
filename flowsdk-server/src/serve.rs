//! The HTTP/1 accept loop.
//!
//! `axum::serve` sets no header timeout, no connection limit and no deadline for a shutdown, so the loop is our own:
//!
//! * a client that dribbles its request head is cut after [`ServeConfig::header_read_timeout`]. The same timer closes
//!   an idle keep-alive connection; a request being served, a long poll among them, is not touched by it;
//! * at most [`ServeConfig::max_connections`] connections are open. Further ones wait in the listen backlog. **A
//!   websocket counts too**: the slot travels with the byte stream and comes back when the stream is dropped, not when
//!   the HTTP part is over;
//! * a client that does not take its answers is cut when nothing could be written for
//!   [`ServeConfig::write_timeout`]; that counts after an upgrade too;
//! * a request of HTTP/1.1 without `Host`, or one with two or with what is no host, is 400 (RFC 9112, 3.2);
//! * after [`Shutdown::token`] is cancelled nothing new is accepted, running requests finish, idle connections close,
//!   and tasks left after [`Shutdown::drain`] are aborted.
//!
//! Upgraded sockets are out of HTTP's reach: whoever owns a `SocketIo` closes its sockets when the token fires, and
//! cancels [`Shutdown::sockets_closed`] then. `serve` hangs up on those that are left, such as clients in the middle of
//! their handshake.

mod stream;

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::ConnectInfo;
use axum::response::{IntoResponse as _, Response};
use flowsdk_core::text::Text;
use http::uri::Authority;
use http::{StatusCode, Version, header};
use hyper::{Request, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioTimer;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tower::{Service, ServiceExt as _};

use crate::api::ApiError;
use stream::{Lines, Slotted};

pub use stream::HangUp;

/// How often a server that stops looks for upgraded connections that nobody closes.
const HANG_UP_PERIOD: Duration = Duration::from_millis(50);

/// Limits of the accept loop.
#[derive(Debug, Clone)]
pub struct ServeConfig {
    /// Time a client has for a complete request head; also how long a keep-alive connection may idle.
    pub header_read_timeout: Duration,
    /// Time a client has to take more of what is waiting to be sent to it.
    pub write_timeout: Duration,
    /// Open connections, websockets included.
    pub max_connections: usize,
    /// Size at which a request head is refused with 431.
    pub max_head_bytes: usize,
}

impl Default for ServeConfig {
    fn default() -> Self {
        Self {
            header_read_timeout: Duration::from_secs(10),
            write_timeout: Duration::from_secs(30),
            max_connections: 20_000,
            max_head_bytes: 32 * 1024,
        }
    }
}

/// When and how a server ends.
#[derive(Debug, Clone)]
pub struct Shutdown {
    /// Cancelling it starts the shutdown.
    pub token: CancellationToken,
    /// Cancelled when whoever owns upgraded connections has closed them: those that are left are hung up on.
    pub sockets_closed: CancellationToken,
    /// Connection tasks are spawned on it, so that the process can wait for all of its tasks in one place.
    pub tracker: TaskTracker,
    /// How long running requests and open sockets may take after that.
    pub drain: Duration,
}

/// Serves `app` until `shutdown.token` is cancelled and the connections are drained or aborted.
///
/// Handlers find the peer in [`ConnectInfo<SocketAddr>`]. Layers that are for every request go around `app` as a whole:
/// on a `Router` each of them would be a box for every route and request.
///
/// A failing `accept` (out of descriptors) is logged and tried again.
pub async fn serve<S>(listener: TcpListener, app: S, config: ServeConfig, shutdown: Shutdown)
where
    S: Service<Request<Incoming>, Response = Response, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    let permits = u32::try_from(config.max_connections).unwrap_or(u32::MAX).max(1);
    let slots = Arc::new(Semaphore::new(permits as usize));
    let abort = CancellationToken::new();
    let mut lines = Lines::default();

    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(config.header_read_timeout)
        .max_buf_size(config.max_head_bytes.max(8 * 1024));

    loop {
        let next = async {
            // A closed semaphore cannot happen: nobody closes it.
            let slot = slots.clone().acquire_owned().await.ok()?;
            Some((accept(&listener).await, slot))
        };
        let ((stream, peer), slot) = tokio::select! {
            biased;
            () = shutdown.token.cancelled() => break,
            next = next => match next { Some(next) => next, None => break },
        };
        let io = Slotted::new(stream, slot, config.write_timeout);
        let line = io.hang_up();
        lines.add(line.clone());
        let conn = connection(&http, io, peer, app.clone());
        let (stop, abort) = (shutdown.token.clone(), abort.clone());
        shutdown.tracker.spawn(async move {
            tokio::pin!(conn);
            // Polled at every request: nothing is aborted before it was asked to stop.
            tokio::select! {
                biased;
                result = conn.as_mut() => {
                    line.leaves_http();
                    return log_end(peer, result);
                }
                () = stop.cancelled() => conn.as_mut().graceful_shutdown(),
            }
            tokio::select! {
                biased;
                () = abort.cancelled() => tracing::warn!(%peer, "connection aborted at the drain deadline"),
                result = conn => {
                    line.leaves_http();
                    log_end(peer, result);
                }
            }
        });
    }

    drop(listener);
    let hanging_up = async {
        shutdown.sockets_closed.cancelled().await;
        loop {
            // Again and again, because a handshake may end at any moment.
            lines.hang_up_upgraded();
            tokio::time::sleep(HANG_UP_PERIOD).await;
        }
    };
    let drained = tokio::time::timeout(shutdown.drain, slots.acquire_many(permits));
    let drained = tokio::select! {
        drained = drained => drained.is_ok(),
        () = hanging_up => false,
    };
    if !drained {
        let open = permits as usize - slots.available_permits();
        tracing::warn!(open, "drain deadline reached, aborting what is left");
    }
    abort.cancel();
}

type Conn<S> = http1::UpgradeableConnection<Slotted, S>;

fn connection<S>(
    http: &http1::Builder,
    io: Slotted,
    peer: SocketAddr,
    app: S,
) -> Conn<
    impl hyper::service::HttpService<Incoming, ResBody = axum::body::Body, Error = Infallible, Future: Send>
    + Send
    + use<S>,
>
where
    S: Service<Request<Incoming>, Response = Response, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    let hang_up = io.hang_up();
    let service = service_fn(move |mut request: Request<Incoming>| {
        let named = names_its_host(&request);
        request.extensions_mut().insert(ConnectInfo(peer));
        request.extensions_mut().insert(hang_up.clone());
        let app = app.clone();
        async move { if named { app.oneshot(request).await } else { Ok(hostless()) } }
    });
    http.serve_connection(io, service).with_upgrades()
}

/// Returns whether the request has the one `Host` that it must have.
fn names_its_host<B>(request: &Request<B>) -> bool {
    let mut hosts = request.headers().get_all(header::HOST).iter();
    match (hosts.next(), hosts.next()) {
        (Some(host), None) => is_host(host.as_bytes()),
        (None, _) => request.version() < Version::HTTP_11,
        _ => false,
    }
}

/// Returns whether it is a host, with a port or without. Clients send an empty one where their target has none.
fn is_host(value: &[u8]) -> bool {
    value.is_empty() || (!value.contains(&b'@') && Authority::try_from(value).is_ok())
}

fn hostless() -> Response {
    let text = Text::new(
        "A requisição deve ter um cabeçalho Host válido",
        "The request must have one valid Host header",
    );
    ApiError::new(StatusCode::BAD_REQUEST, "validation_failed", text).into_response()
}

/// Accepts one connection; errors of a single peer are skipped, errors of the process (EMFILE) are waited out.
async fn accept(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::ConnectionAborted
                        | io::ErrorKind::ConnectionReset
                        | io::ErrorKind::ConnectionRefused
                ) => {}
            Err(error) => {
                tracing::error!(%error, "accept failed, trying again");
                tokio::time::sleep(Duration::from_millis(250)).await;
            }
        }
    }
}

fn log_end(peer: SocketAddr, result: hyper::Result<()>) {
    if let Err(error) = result {
        tracing::debug!(%peer, %error, "connection ended with an error");
    }
}
