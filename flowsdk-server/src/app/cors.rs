//! Permissions for pages of other origins.

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::future::Either;
use http::{HeaderName, Method, Request, Response, header};
use tower::{Layer, Service};
use tower_http::cors::{self, Any, CorsLayer};

/// How long a browser may keep the answer of a preflight.
const PREFLIGHT_KEPT: Duration = Duration::from_secs(10 * 60);

/// Any page may call: the token holds the permissions, and there are no cookies.
pub(super) fn layer() -> AnyOrigin {
    let names =
        |names: &[&'static str]| names.iter().copied().map(HeaderName::from_static).collect::<Vec<_>>();
    let layer = CorsLayer::new()
        .allow_origin(Any)
        .allow_methods(Any)
        // A browser does not take `*` for `Authorization`, so the headers are named.
        .allow_headers(names(&[
            "authorization",
            "content-type",
            "idempotency-key",
            "x-channel-id",
            "x-user-id",
            "x-session-key",
        ]))
        .expose_headers(names(&[
            "content-disposition",
            "idempotency-replayed",
            "location",
            "ratelimit-limit",
            "ratelimit-remaining",
            "ratelimit-reset",
            "retry-after",
            "x-request-id",
        ]))
        .max_age(PREFLIGHT_KEPT);
    AnyOrigin(Arc::new(layer))
}

/// Lets pages of any origin read the answers.
#[derive(Debug, Clone)]
pub(super) struct AnyOrigin(Arc<CorsLayer>);

impl<S> Layer<S> for AnyOrigin {
    type Service = Permitted<S>;

    fn layer(&self, inner: S) -> Permitted<S> {
        Permitted { layer: Arc::clone(&self.0), inner }
    }
}

/// The service under [`AnyOrigin`].
#[derive(Debug, Clone)]
pub(super) struct Permitted<S> {
    layer: Arc<CorsLayer>,
    inner: S,
}

impl<S, B, R> Service<Request<B>> for Permitted<S>
where
    S: Service<Request<B>, Response = Response<R>> + Clone,
    R: Default,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Either<S::Future, cors::ResponseFuture<S::Future>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        if is_of_no_page(&request) {
            return Either::Left(self.inner.call(request));
        }
        let next = self.inner.clone();
        let ready = std::mem::replace(&mut self.inner, next);
        Either::Right(self.layer.layer(ready).call(request))
    }
}

/// Returns whether no page needs the headers on the answer. Browsers name the origin in every request of another page. A
/// cache may show a page what somebody else has read, but keeps no answer to a POST. Webhooks come this way, many a second.
fn is_of_no_page<B>(request: &Request<B>) -> bool {
    request.method() == Method::POST && !request.headers().contains_key(header::ORIGIN)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use tower::{ServiceExt as _, service_fn};

    use super::*;

    #[tokio::test]
    async fn every_answer_that_a_page_may_read_says_so() {
        let answers = service_fn(async |_: Request<()>| Ok::<_, Infallible>(Response::new(String::new())));
        let service = layer().layer(answers);
        for (method, origin, says) in [
            (Method::GET, None, true),
            (Method::GET, Some("https://shop.example"), true),
            (Method::POST, Some("https://shop.example"), true),
            (Method::POST, Some("null"), true),
            (Method::POST, None, false),
            (Method::DELETE, None, true),
            (Method::OPTIONS, Some("https://shop.example"), true),
        ] {
            let mut request = Request::builder().method(&method);
            if let Some(origin) = origin {
                request = request.header(header::ORIGIN, origin);
            }
            let request = request.body(()).expect("a request");
            let Ok(answer) = service.clone().oneshot(request).await;
            let allowed = answer.headers().get(header::ACCESS_CONTROL_ALLOW_ORIGIN);
            assert_eq!(allowed.is_some(), says, "{method} {origin:?}");
        }
    }
}
