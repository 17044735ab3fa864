//! The service in front of the protocol library's: repairs that need no fork.
//!
//! * **Abandoned polls.** The reference server closes a session when the connection of a pending poll goes away; the
//!   library keeps it until the heartbeat runs out, up to 45 s in which the visitor counts as present and messages go
//!   into a dead buffer. When a poll is dropped, the library is given the client's close packet.
//! * **Request heads.** The library keeps the head of the opening request for the life of the session, and its parts
//!   are slices of the 8 KiB read buffer of the connection, which therefore stays allocated for every idle socket. The
//!   head is copied into one buffer of its own size, without the headers that nobody reads.
//! * **Handshakes.** A session that nobody lets in costs memory. Those over long polling, and those over a websocket that
//!   is gone, take no connection; they are counted and bounded ([`Front::counting`]).
//! * **Transports.** The connection of a websocket is noted, so that it can be ended ([`Front::noting`]).

use std::future::{Future, Ready, ready};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::extract::OriginalUri;
use axum::response::IntoResponse as _;
use bytes::{Bytes, BytesMut};
use flowsdk_core::text::Text;
use futures_util::future::Either;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, Uri, header};
use tower::Service;

use super::handshakes::{HandshakeLimits, Handshakes, NotOpened};
use super::transports::{self, Transports};
use crate::api::{ApiError, too_many};
use crate::serve::HangUp;

/// Wraps the Socket.IO (or Engine.IO) service; see the [module](self).
#[derive(Debug, Clone)]
pub struct Front<S> {
    service: S,
    door: Option<Arc<Door>>,
    transports: Option<Transports>,
}

/// Who may open a session.
#[derive(Debug)]
struct Door {
    /// Over long polling.
    polling: Arc<Handshakes>,
    /// Over websockets that are gone.
    left: Arc<Handshakes>,
    trusted_proxies: u32,
}

impl<S> Front<S> {
    /// Wraps the service of the library.
    pub fn new(service: S) -> Self {
        Self { service, door: None, transports: None }
    }

    /// Counts the sessions that are opened over long polling, by the addresses that `TRUSTED_PROXIES` says, and
    /// apart from them those that began as a websocket. One of these has a connection, and counts when that is gone;
    /// under another server than [`serve`](crate::serve::serve), which does not tell, it counts at once.
    #[must_use]
    pub fn counting(self, limits: HandshakeLimits, trusted_proxies: u32) -> Self {
        let (polling, left) = (Handshakes::new(limits), Handshakes::new(limits));
        Self { door: Some(Arc::new(Door { polling, left, trusted_proxies })), ..self }
    }

    /// Notes the connections of websockets.
    #[must_use]
    pub fn noting(self, transports: Transports) -> Self {
        Self { transports: Some(transports), ..self }
    }
}

impl Door {
    /// Counts the session that the request opens, for as long as the session keeps the request's extensions.
    fn open(&self, request: &mut Request<Body>, kind: Kind) -> Result<(), ApiError> {
        let address = crate::caller::address(request.headers(), request.extensions(), self.trusted_proxies);
        let begun = match (kind, request.extensions().get::<HangUp>()) {
            (Kind::Opens, _) => self.polling.begin(address),
            (_, None) => self.left.begin(address),
            (_, Some(connection)) => self.left.begin_connected(address).map(|(newcomer, connected)| {
                connection.keep(connected);
                newcomer
            }),
        };
        let newcomer = begun.map_err(|refused| {
            metrics::counter!("flowsdk_socket_handshakes_refused_total").increment(1);
            tracing::debug!(%address, ?refused, "a session was not opened");
            match refused {
                NotOpened::TooManyOfAddress => too_many(AGAIN),
                NotOpened::TooMany => {
                    let text =
                        Text::new("Serviço ocupado; tente novamente", "The service is busy; try again");
                    let status = StatusCode::SERVICE_UNAVAILABLE;
                    ApiError::new(status, "unavailable", text).retry_after(AGAIN)
                }
            }
        })?;
        request.extensions_mut().insert(newcomer);
        Ok(())
    }
}

/// When a refused client is to come again.
const AGAIN: Duration = Duration::from_secs(5);

impl<S, B> Service<Request<Body>> for Front<S>
where
    S: Service<Request<Body>, Response = Response<B>> + Clone,
    S::Future: Send + 'static,
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<axum::BoxError>,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = Either<PollGuard<S>, Ready<Result<Response<Body>, S::Error>>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.service.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        let kind = Kind::of(&request);
        if let (Kind::Opens | Kind::OpensWebsocket, Some(door)) = (kind, &self.door)
            && let Err(refused) = door.open(&mut request, kind)
        {
            return Either::Right(ready(Ok(refused.into_response())));
        }
        if request.method() == Method::GET {
            detach(&mut request);
        }
        let pending = (kind == Kind::Polls).then(|| (self.service.clone(), request.uri().clone()));
        let connection = (kind == Kind::Upgrades).then(|| request.extensions().get().cloned()).flatten();
        let upgrade = self.transports.clone().zip(connection).map(|(transports, connection)| Upgrade {
            transports,
            connection,
            session: session(request.uri()).unwrap_or_default().to_owned(),
        });
        Either::Left(PollGuard { response: Box::pin(self.service.call(request)), pending, upgrade })
    }
}

/// The part of a request in the life of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Begins one over long polling.
    Opens,
    /// Begins one over a websocket.
    OpensWebsocket,
    Polls,
    /// Goes over from long polling to a websocket.
    Upgrades,
    Other,
}

impl Kind {
    fn of(request: &Request<Body>) -> Self {
        if request.method() != Method::GET {
            return Self::Other;
        }
        let query = request.uri().query().unwrap_or_default();
        let is_websocket = query.split('&').any(|pair| pair == "transport=websocket");
        match (session(request.uri()), is_websocket) {
            (None, false) => Self::Opens,
            (Some(_), false) => Self::Polls,
            (Some(_), true) => Self::Upgrades,
            (None, true) => Self::OpensWebsocket,
        }
    }
}

fn session(uri: &Uri) -> Option<&str> {
    uri.query()?.split('&').find_map(|pair| pair.strip_prefix("sid="))
}

/// The headers of a request that somebody reads: the web chat, or the library when a websocket is opened. The others
/// would be kept for the life of the session.
const KEPT: [HeaderName; 6] = [
    header::ORIGIN,
    HeaderName::from_static("x-forwarded-for"),
    header::CONNECTION,
    header::UPGRADE,
    header::SEC_WEBSOCKET_KEY,
    header::SEC_WEBSOCKET_VERSION,
];

/// Leaves only the headers that are read.
fn strip(request: &mut Request<Body>) {
    let mut kept = HeaderMap::with_capacity(KEPT.len());
    for name in KEPT {
        for value in request.headers().get_all(&name) {
            kept.append(name.clone(), value.clone());
        }
    }
    *request.headers_mut() = kept;
}

/// Copies the address and the header values out of the connection's read buffer.
fn detach(request: &mut Request<Body>) {
    strip(request);
    let address = request.uri().to_string();
    let size = address.len() + request.headers().values().map(HeaderValue::len).sum::<usize>();
    let mut buffer = BytesMut::with_capacity(size);
    buffer.extend_from_slice(address.as_bytes());
    if let Ok(uri) = Uri::from_maybe_shared(buffer.split().freeze()) {
        // axum keeps a slice of its own; below a nested router it is a longer address.
        if let Some(OriginalUri(original)) = request.extensions_mut().get_mut::<OriginalUri>() {
            let copy = original.to_string();
            *original = if copy == address { uri.clone() } else { copy.parse().unwrap_or_default() };
        }
        *request.uri_mut() = uri;
    }
    for value in request.headers_mut().values_mut() {
        buffer.extend_from_slice(value.as_bytes());
        if let Ok(mut copy) = HeaderValue::from_maybe_shared(buffer.split().freeze()) {
            copy.set_sensitive(value.is_sensitive());
            *value = copy;
        }
    }
}

/// A websocket that takes over a session.
struct Upgrade {
    transports: Transports,
    connection: HangUp,
    session: String,
}

/// The response of [`Front`].
pub struct PollGuard<S: Service<Request<Body>> + Clone> {
    response: Pin<Box<S::Future>>,
    pending: Option<(S, Uri)>,
    upgrade: Option<Upgrade>,
}

// The response is boxed; nothing else is ever pinned.
impl<S: Service<Request<Body>> + Clone> Unpin for PollGuard<S> {}

impl<S, B> Future for PollGuard<S>
where
    S: Service<Request<Body>, Response = Response<B>> + Clone,
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<axum::BoxError>,
{
    type Output = Result<Response<Body>, S::Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let response = ready!(self.response.as_mut().poll(cx));
        self.pending = None;
        let upgrade = self.upgrade.take();
        Poll::Ready(response.map(|response| {
            // One that is refused is none, and a connection is switched over once at most.
            if response.status() == StatusCode::SWITCHING_PROTOCOLS
                && let Some(Upgrade { transports, connection, session }) = upgrade
            {
                transports.upgraded(&session, connection);
            }
            response.map(Body::new)
        }))
    }
}

impl<S: Service<Request<Body>> + Clone> Drop for PollGuard<S> {
    fn drop(&mut self) {
        let Some((mut service, uri)) = self.pending.take() else {
            return;
        };
        // The library spawns while it closes a session; without a runtime the process ends anyway.
        if tokio::runtime::Handle::try_current().is_ok() {
            transports::close(&mut service, uri);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_of_a_session_is_what_is_read() {
        let mut request = Request::get("/socket.io/?EIO=4&transport=polling&t=token")
            .header("origin", "https://shop.example")
            .header("x-forwarded-for", "1.1.1.1")
            .header("x-forwarded-for", "2.2.2.2")
            .header("cookie", "c".repeat(20_000))
            .header("x-anything", "x".repeat(7_000))
            .body(Body::empty())
            .expect("a request");
        assert_eq!(Kind::of(&request), Kind::Opens);
        detach(&mut request);
        assert_eq!(request.uri(), "/socket.io/?EIO=4&transport=polling&t=token");
        let names: Vec<_> = request.headers().iter().map(|(name, value)| (name.as_str(), value)).collect();
        assert_eq!(
            names,
            [
                ("origin", &HeaderValue::from_static("https://shop.example")),
                ("x-forwarded-for", &HeaderValue::from_static("1.1.1.1")),
                ("x-forwarded-for", &HeaderValue::from_static("2.2.2.2")),
            ]
        );
    }

    #[test]
    fn requests_of_every_kind() {
        for (method, query, kind) in [
            ("GET", "EIO=4&transport=polling", Kind::Opens),
            ("GET", "EIO=4", Kind::Opens),
            ("GET", "EIO=4&transport=polling&sid=a", Kind::Polls),
            ("GET", "sid=a&EIO=4&transport=websocket", Kind::Upgrades),
            ("GET", "EIO=4&transport=websocket", Kind::OpensWebsocket),
            ("POST", "EIO=4&transport=polling&sid=a", Kind::Other),
        ] {
            let request = Request::builder().method(method).uri(format!("/s/?{query}"));
            assert_eq!(Kind::of(&request.body(Body::empty()).expect("a request")), kind, "{method} {query}");
        }
    }
}
