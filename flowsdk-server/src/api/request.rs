//! One id and one span a request.

use std::sync::LazyLock;

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use flowsdk_core::context::OpContext;
use http::HeaderValue;
use tracing::Instrument as _;

tokio::task_local! {
    static ID: String;
}

static IDS: LazyLock<OpContext> = LazyLock::new(OpContext::system);

/// The id of the request that is being answered; a fresh one outside of a request.
pub(super) fn id() -> String {
    ID.try_with(String::clone).unwrap_or_else(|_| IDS.ids().next_id())
}

/// Gives the request an id: in its log lines, in the header `x-request-id` and in the error body.
pub async fn identify(request: Request, next: Next) -> Response {
    let id = IDS.ids().next_id();
    let span = tracing::info_span!("request", id, method = %request.method(), path = request.uri().path());
    let header = HeaderValue::from_str(&id);
    let mut response = ID.scope(id, next.run(request).instrument(span)).await;
    if let Ok(header) = header {
        response.headers_mut().insert("x-request-id", header);
    }
    response
}
