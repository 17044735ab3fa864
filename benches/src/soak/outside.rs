//! The outside that the flow asks: an HTTP server that takes its time.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Result;
use axum::extract::Query;
use axum::routing::get;
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// The longest that an answer takes, in milliseconds.
const SLOWEST: u64 = 400;

/// The running server; dropping it ends it.
pub(super) struct Outside {
    pub(super) address: SocketAddr,
    _task: JoinSet<()>,
}

#[derive(Deserialize)]
struct Question {
    text: String,
}

impl Outside {
    pub(super) async fn start() -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let router = Router::new().route("/answer", get(answer));
        let mut task = JoinSet::new();
        task.spawn(async move {
            let _ended = axum::serve(listener, router).await;
        });
        Ok(Self { address, _task: task })
    }
}

/// Repeats the number at the end of the question. How long that takes depends on the question alone.
async fn answer(Query(question): Query<Question>) -> Json<Value> {
    let number = question.text.rsplit(' ').next().unwrap_or_default();
    let weight: u64 = question.text.bytes().map(u64::from).sum();
    tokio::time::sleep(Duration::from_millis(weight * 37 % SLOWEST)).await;
    Json(json!({ "got": number }))
}
