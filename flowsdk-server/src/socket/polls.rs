//! Ends the session of a client that abandons its long poll.
//!
//! The reference server closes a session when the connection of a pending poll goes away; the protocol library keeps it
//! until the heartbeat runs out, up to 45 s in which the visitor counts as present and messages go into a dead buffer.
//! This service stands in front of the library's and sends it the client's close packet when a poll is dropped.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll, ready},
};

use axum::body::Body;
use futures_util::FutureExt;
use http::{Method, Request, Uri};
use tower::Service;

/// Wraps the Socket.IO (or Engine.IO) service; see the [module](self).
#[derive(Debug, Clone)]
pub struct CloseAbandonedPolls<S>(
    /// The service of the library.
    pub S,
);

impl<S> Service<Request<Body>> for CloseAbandonedPolls<S>
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

    fn call(&mut self, request: Request<Body>) -> PollGuard<S> {
        let pending = is_poll(&request).then(|| (self.0.clone(), request.uri().clone()));
        PollGuard {
            response: Box::pin(self.0.call(request)),
            pending,
        }
    }
}

fn is_poll(request: &Request<Body>) -> bool {
    let query = request.uri().query().unwrap_or_default();
    let has = |wanted: &str| query.split('&').any(|pair| pair.starts_with(wanted));
    request.method() == Method::GET && has("transport=polling") && has("sid=")
}

/// The response of [`CloseAbandonedPolls`].
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
