//! The calls of the provider's API.

mod faulty;
mod keys;
mod media;
mod messages;
mod objects;
mod profiles;
mod templates;

use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use futures_util::stream;
use http::{HeaderMap, StatusCode, header};
use secrecy::ExposeSecret as _;
use serde_json::json;

use super::media::MOST;
use super::provider::Provider;

pub(super) fn routes(provider: Provider) -> Router {
    Router::new()
        .route("/{version}/{account}/message_templates", get(templates::list).post(templates::create))
        .route("/{version}/{account}/subscribed_apps", get(templates::subscribed_apps))
        .route("/{version}/{number}/whatsapp_business_encryption", get(keys::show).post(keys::set))
        .route("/{version}/{number}/whatsapp_business_profile", get(profiles::show).post(profiles::change))
        .route("/{version}/{number}/media", post(media::upload).layer(DefaultBodyLimit::max(MOST)))
        .route("/{version}/{id}", get(objects::show).delete(media::delete))
        // Where contents are: at the provider this is another host.
        .route("/media/{id}", get(media::content))
        .route_layer(from_fn_with_state(provider.clone(), faulty::go_wrong))
        .route_layer(from_fn_with_state(provider.clone(), let_in))
        // It counts calls that are not let in, too, and its receipts are no calls that go wrong.
        .route("/{version}/{number}/messages", post(messages::send))
        .with_state(provider)
}

async fn let_in(State(provider): State<Provider>, request: Request, next: Next) -> Response {
    if is_let_in(&provider, request.headers()) { next.run(request).await } else { no_token() }
}

/// The answer where an object is not there.
fn missing(id: &str) -> Response {
    let error = json!({ "error": { "message": format!("Unsupported get request. Object with ID '{id}' does not exist"),
        "type": "GraphMethodException", "code": 100, "error_subcode": 33, "fbtrace_id": "simulator" } });
    (StatusCode::BAD_REQUEST, Json(error)).into_response()
}

fn is_let_in(provider: &Provider, headers: &HeaderMap) -> bool {
    let state = provider.state();
    token_of(headers).is_some_and(|token| {
        state.config.access_token.as_ref().is_none_or(|known| known.expose_secret() == token)
    })
}

fn token_of(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    value.and_then(|value| value.strip_prefix("Bearer ")).filter(|token| !token.is_empty())
}

/// The answer to a call without a usable token.
fn no_token() -> Response {
    refusal(190, "Invalid OAuth access token", None)
}

fn refusal(code: i64, details: &str, retry_after: Option<u64>) -> Response {
    let status = match code {
        0 | 190 => StatusCode::UNAUTHORIZED,
        10 | 200..=299 | 368 | 131_005 | 131_031 => StatusCode::FORBIDDEN,
        4 | 17 | 80_007 | 130_429 | 131_048 => StatusCode::TOO_MANY_REQUESTS,
        2 => StatusCode::SERVICE_UNAVAILABLE,
        1 | 3 | 131_000 | 131_016 | 131_045 | 131_057 | 133_004 => StatusCode::INTERNAL_SERVER_ERROR,
        _ => StatusCode::BAD_REQUEST,
    };
    let error = json!({ "error": { "message": format!("(#{code}) {details}"), "type": "OAuthException", "code": code,
        "error_data": { "messaging_product": "whatsapp", "details": details }, "fbtrace_id": "simulator" } });
    let mut answer = (status, Json(error)).into_response();
    if let Some(seconds) = retry_after {
        answer.headers_mut().insert(header::RETRY_AFTER, seconds.into());
    }
    answer
}

/// An answer that breaks off before its end.
fn broken() -> Response {
    let parts = [Ok(Bytes::from_static(b"{")), Err(std::io::Error::other("the connection ends"))];
    Body::from_stream(stream::iter(parts)).into_response()
}
