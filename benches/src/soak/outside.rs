//! The outside that the flow asks: an HTTP server that takes its time.

use std::time::Duration;

use axum::extract::Query;
use axum::routing::get;
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::{Value, json};

/// The longest that an answer takes, in milliseconds.
const SLOWEST: u64 = 400;

#[derive(Deserialize)]
struct Question {
    text: String,
}

/// Returns the routes of the server.
pub(super) fn routes() -> Router {
    Router::new().route("/answer", get(answer))
}

/// Repeats the number at the end of the question. How long that takes depends on the question alone.
async fn answer(Query(question): Query<Question>) -> Json<Value> {
    let number = question.text.rsplit(' ').next().unwrap_or_default();
    let weight: u64 = question.text.bytes().map(u64::from).sum();
    tokio::time::sleep(Duration::from_millis(weight * 37 % SLOWEST)).await;
    Json(json!({ "got": number }))
}
