//! One id, one language, one span and one line of log a request, and an answer even when its handler panics.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use axum::response::{IntoResponse as _, Response};
use flowsdk_core::id::IdSource;
use flowsdk_core::text::Language;
use futures_util::FutureExt as _;
use futures_util::future::{CatchUnwind, Map};
use http::{HeaderName, HeaderValue, Method, Request, StatusCode, Uri, header};
use tokio::task::futures::TaskLocalFuture;
use tower::{Layer, Service};
use tracing::Instrument as _;
use tracing::instrument::Instrumented;

use super::access_log::Served;
use super::error::ApiError;
use super::guard::{Beyond, Watch};
use super::limits::Allowance;

/// The id of a request, in its answer.
pub(super) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

tokio::task_local! {
    static FACTS: Facts;
}

/// The known facts of the request that is being answered, wherever in its task.
pub struct Facts {
    id: HeaderValue,
    method: Method,
    uri: Uri,
    /// Read only when something is to be said: most answers have no text.
    accept_language: Option<HeaderValue>,
    /// The language of callers without a preference.
    default_language: Language,
    allowance: Cell<Option<Allowance>>,
    /// Of a caller who may try to reach beyond their routers.
    watch: RefCell<Option<Watch>>,
    began: Instant,
    /// Of a request of the API whose guard has looked at its caller.
    served: RefCell<Option<Served>>,
}

/// The id outside of a request.
const NONE: HeaderValue = HeaderValue::from_static("none");

/// Id and language of the request; outside of one `none` and Portuguese.
pub(super) fn facts() -> (HeaderValue, Language) {
    let known = FACTS.try_with(|facts| {
        let wish = facts.accept_language.as_ref().and_then(|value| value.to_str().ok());
        (facts.id.clone(), Language::preferred(wish.unwrap_or_default(), facts.default_language))
    });
    known.unwrap_or_else(|_| (NONE, Language::default()))
}

/// The request that a log line is about: id, method and path.
pub(super) fn named() -> String {
    let name = |facts: &Facts| {
        let id = facts.id.to_str().unwrap_or_default();
        format!("{id} {} {}", facts.method, facts.uri.path())
    };
    FACTS.try_with(name).unwrap_or_else(|_| "none".to_owned())
}

/// Notes the caller's remaining requests, for the headers of the answer.
pub(super) fn note(allowance: Allowance) {
    // Outside of a request nobody is told.
    let _nobody = FACTS.try_with(|facts| facts.allowance.set(Some(allowance)));
}

/// Notes that a refusal of this request is to be on record if it tells of a record beyond the caller's routers.
pub(super) fn watch(watch: Watch) {
    // Outside of a request nothing is answered.
    let _nobody = FACTS.try_with(|facts| facts.watch.replace(Some(watch)));
}

/// Notes the route of this request, and its caller.
pub(super) fn note_served(served: Served) {
    // Outside of a request nothing is logged.
    let _nobody = FACTS.try_with(|facts| facts.served.replace(Some(served)));
}

/// Adds an id of ours to every request, whatever the client calls it: in its log lines, in the header
/// `x-request-id` and in the error body.
#[derive(Debug, Clone)]
pub struct Identify {
    ids: Arc<dyn IdSource>,
    default_language: Language,
}

impl Identify {
    /// A layer that takes its ids from `ids`. Callers without a preference are answered in `default_language`.
    pub fn new(ids: Arc<dyn IdSource>, default_language: Language) -> Self {
        Self { ids, default_language }
    }

    fn fresh_id(&self) -> HeaderValue {
        // An id is letters and digits, so it always fits.
        HeaderValue::try_from(self.ids.next_id()).unwrap_or(NONE)
    }
}

impl<S> Layer<S> for Identify {
    type Service = Identified<S>;

    fn layer(&self, inner: S) -> Identified<S> {
        Identified { identify: self.clone(), inner }
    }
}

/// The service under [`Identify`]. Its future is named, not boxed: it runs for every request.
#[derive(Debug, Clone)]
pub struct Identified<S> {
    identify: Identify,
    inner: S,
}

type Caught<E> = Result<Result<Response, E>, Box<dyn Any + Send>>;
type Finish<E> = fn(Caught<E>) -> Result<Response, E>;

type Answering<F, E> = TaskLocalFuture<Facts, Instrumented<Map<CatchUnwind<AssertUnwindSafe<F>>, Finish<E>>>>;

impl<S, B> Service<Request<B>> for Identified<S>
where
    S: Service<Request<B>, Response = Response>,
{
    type Response = Response;
    type Error = S::Error;
    type Future = Answering<S::Future, S::Error>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let id = self.identify.fresh_id();
        // A span costs more than the rest of this layer, so it is there only when somebody looks for it; the log
        // lines of failures name the request by themselves.
        let span = tracing::debug_span!(
            "request",
            id = id.to_str().unwrap_or_default(),
            method = %request.method(),
            path = request.uri().path()
        );
        let accept_language = request.headers().get(header::ACCEPT_LANGUAGE).cloned();
        let (method, uri) = (request.method().clone(), request.uri().clone());
        let facts = Facts {
            id,
            method,
            uri,
            accept_language,
            default_language: self.identify.default_language,
            allowance: Cell::new(None),
            watch: RefCell::new(None),
            began: Instant::now(),
            served: RefCell::new(None),
        };
        let finish: Finish<S::Error> = finish;
        let answering = AssertUnwindSafe(self.inner.call(request)).catch_unwind();
        FACTS.scope(facts, answering.map(finish).instrument(span))
    }
}

/// Adds the facts to the answer. The panic of a handler is in the log already, with its place.
fn finish<E>(answer: Caught<E>) -> Result<Response, E> {
    let answer = answer.unwrap_or_else(|_panic| {
        tracing::error!(request = named(), "a handler panicked");
        Ok(ApiError::internal().into_response())
    });
    answer.map(|mut response| {
        let beyond = response.extensions().get::<Beyond>().copied();
        let headers = response.headers_mut();
        let _outside = FACTS.try_with(|facts| {
            headers.insert(REQUEST_ID, facts.id.clone());
            if let Some(allowance) = facts.allowance.get() {
                allowance.write(headers);
            }
            if let (Some(beyond), Some(watch)) = (beyond, facts.watch.take()) {
                watch.note(beyond);
            }
        });
        log(response.status());
        response
    })
}

/// Logs a request of the API, and any other that was refused.
fn log(status: StatusCode) {
    let _outside = FACTS.try_with(|facts| {
        let served = facts.served.take();
        let is_refused = status.is_client_error() || status.is_server_error();
        if let Some(served) = served.or(is_refused.then_some(Served::NOWHERE)) {
            let id = facts.id.to_str().unwrap_or_default();
            served.log(id, &facts.method, status, facts.began.elapsed());
        }
    });
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::body::{Body, to_bytes};
    use axum::routing::get;
    use flowsdk_core::id::Cuids;
    use flowsdk_core::text::Text;
    use flowsdk_core::time::ManualClock;
    use serde_json::Value;
    use tower::ServiceExt as _;

    use super::*;

    async fn teapot() -> ApiError {
        tokio::task::yield_now().await;
        ApiError::new(StatusCode::CONFLICT, "conflict", Text::new("Conflito", "Conflict"))
    }

    async fn broken() -> StatusCode {
        tokio::task::yield_now().await;
        panic!("as the test wants")
    }

    async fn ask(path: &str, headers: &[(&str, &str)]) -> (u16, String, Value) {
        ask_in(Language::Portuguese, path, headers).await
    }

    async fn ask_in(default: Language, path: &str, headers: &[(&str, &str)]) -> (u16, String, Value) {
        let router = Router::new().route("/teapot", get(teapot)).route("/broken", get(broken));
        let mut request = Request::builder().uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Body::empty()).expect("a request");
        let identify = Identify::new(Arc::new(Cuids::new(ManualClock::default())), default);
        let Ok(response) = identify.layer(router).oneshot(request).await;
        let (parts, body) = response.into_parts();
        let id = parts.headers["x-request-id"].to_str().expect("text").to_owned();
        let bytes = to_bytes(body, 10_000).await.expect("a body");
        (parts.status.as_u16(), id, serde_json::from_slice(&bytes).expect("json"))
    }

    #[tokio::test]
    async fn the_id_is_ours_and_the_same_in_header_and_body() {
        let (status, id, body) = ask("/teapot", &[("x-request-id", "theirs")]).await;
        assert_eq!(
            (status, &body["requestId"], &body["message"]),
            (409, &id.clone().into(), &"Conflito".into())
        );
        assert_ne!(ask("/teapot", &[]).await.1, id);
    }

    #[tokio::test]
    async fn the_language_is_the_callers() {
        assert_eq!(ask("/teapot", &[("accept-language", "en-GB, pt;q=0.5")]).await.2["message"], "Conflict");
    }

    #[tokio::test]
    async fn callers_without_a_preference_are_answered_in_the_language_of_the_server() {
        for headers in [&[][..], &[("accept-language", "de")], &[("accept-language", "*")]] {
            assert_eq!(ask_in(Language::English, "/teapot", headers).await.2["message"], "Conflict");
        }
        let portuguese = [("accept-language", "pt")];
        assert_eq!(ask_in(Language::English, "/teapot", &portuguese).await.2["message"], "Conflito");
    }

    #[tokio::test]
    async fn a_panic_is_answered_too() {
        let (status, id, body) = ask("/broken", &[]).await;
        assert_eq!((status, &body["code"], &body["requestId"]), (500, &"internal".into(), &id.into()));
    }
}
