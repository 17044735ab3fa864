//! The service in front of the protocol library's: two repairs that need no fork.
//!
//! * **Abandoned polls.** The reference server closes a session when the connection of a pending poll goes away; the
//!   library keeps it until the heartbeat runs out, up to 45 s in which the visitor counts as present and messages go
//!   into a dead buffer. When a poll is dropped, the library is given the client's close packet.
//! * **Request heads.** The library keeps the head of the opening request for the life of the session, and its parts
//!   are slices of the 8 KiB read buffer of the connection, which therefore stays allocated for every idle socket. The
//!   head is copied into one buffer of its own size.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll, ready},
};

use axum::{body::Body, extract::OriginalUri};
use bytes::BytesMut;
use futures_util::FutureExt;
use http::{HeaderValue, Method, Request, Uri};
use tower::Service;

/// Wraps the Socket.IO (or Engine.IO) service; see the [module](self).
#[derive(Debug, Clone)]
pub struct Front<S>(
    /// The service of the library.
    pub S,
);

impl<S> Service<Request<Body>> for Front<S>
where
    S: Service<Request<Body>> + Clone,
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = PollGuard<S>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request<Body>) -> PollGuard<S> {
        if request.method() == Method::GET {
            detach(&mut request);
        }
        let pending = is_poll(&request).then(|| (self.0.clone(), request.uri().clone()));
        PollGuard { response: Box::pin(self.0.call(request)), pending }
    }
}

/// Copies the address and the header values out of the connection's read buffer.
fn detach(request: &mut Request<Body>) {
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

fn is_poll(request: &Request<Body>) -> bool {
    let query = request.uri().query().unwrap_or_default();
    let has = |wanted: &str| query.split('&').any(|pair| pair.starts_with(wanted));
    request.method() == Method::GET && has("transport=polling") && has("sid=")
}

/// The response of [`Front`].
pub struct PollGuard<S: Service<Request<Body>> + Clone> {
    response: Pin<Box<S::Future>>,
    pending: Option<(S, Uri)>,
}

// The response is boxed; nothing else is ever pinned.
impl<S: Service<Request<Body>> + Clone> Unpin for PollGuard<S> {}

impl<S: Service<Request<Body>> + Clone> Future for PollGuard<S> {
    type Output = Result<S::Response, S::Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let response = ready!(self.response.as_mut().poll(cx));
        self.pending = None;
        Poll::Ready(response)
    }
}

impl<S: Service<Request<Body>> + Clone> Drop for PollGuard<S> {
    fn drop(&mut self) {
        let Some((mut service, uri)) = self.pending.take() else {
            return;
        };
        // The library spawns while it closes a session; without a runtime the process ends anyway.
        if tokio::runtime::Handle::try_current().is_err() {
            return;
        }
        let mut close = Request::new(Body::from("1"));
        *close.method_mut() = Method::POST;
        *close.uri_mut() = uri;
        // The body is in memory, so the library handles the packet within one poll. A session that has moved to a
        // websocket meanwhile refuses the request and stays.
        let _ = service.call(close).now_or_never();
    }
}
