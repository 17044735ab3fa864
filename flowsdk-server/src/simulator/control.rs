//! `/simulator`: tells the provider what to do.

use axum::extract::{Path, State};
use axum::routing::{get, post};
use axum::{Json, Router};
use http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};

use super::fault::Fault;
use super::provider::{Provider, SentMessage};

pub(super) fn routes(provider: Provider) -> Router {
    Router::new()
        .route("/simulator/messages", get(sent))
        .route("/simulator/faults", post(fail))
        .route("/simulator/numbers/{number}/phones/{phone}/messages", post(say))
        .with_state(provider)
}

/// What a phone writes: a `text`, or a whole message with its `type`.
#[derive(Deserialize)]
struct Said {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    message: Option<Value>,
}

async fn sent(State(provider): State<Provider>) -> Json<Vec<SentMessage>> {
    Json(provider.sent())
}

async fn fail(State(provider): State<Provider>, Json(fault): Json<Fault>) -> StatusCode {
    provider.fail_next(fault);
    StatusCode::NO_CONTENT
}

async fn say(
    State(provider): State<Provider>,
    Path((number, phone)): Path<(String, String)>,
    Json(said): Json<Said>,
) -> Result<Json<Value>, (StatusCode, &'static str)> {
    let message = match (said.message.filter(Value::is_object), said.text) {
        (Some(message), _) => message,
        (None, Some(text)) => json!({ "type": "text", "text": { "body": text } }),
        (None, None) => return Err((StatusCode::BAD_REQUEST, "needs a text or a message")),
    };
    let name = said.name.unwrap_or_else(|| phone.clone());
    Ok(Json(json!({ "id": provider.say(&number, &phone, &name, message) })))
}
