//! The channel of a bot: where it sends its answers.
//!
//! A bot of the Bot Framework is called with a message and the address of the service that brought it, and posts each
//! answer there, before it ends the call ("Create messages with the Bot Connector API", reply to activity).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;
use axum::Router;
use axum::extract::{Path, State};
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::post;

use crate::outside::Outside;

/// Activities posted and not yet taken, by conversation.
type Posted = Arc<Mutex<HashMap<String, String>>>;

/// A channel that listens until it is dropped.
#[derive(Debug)]
pub(super) struct Channel {
    outside: Outside,
    posted: Posted,
}

impl Channel {
    pub(super) async fn open() -> Result<Self> {
        let posted = Posted::default();
        let app = Router::new()
            .route("/v3/conversations/{conversation}/activities/{activity}", post(take))
            .with_state(Arc::clone(&posted));
        Ok(Self { outside: Outside::start(app).await?, posted })
    }

    /// Returns the `serviceUrl` that a bot is given.
    pub(super) fn url(&self) -> String {
        format!("http://{}", self.outside.address)
    }

    /// The activities that were posted to `conversation` since this was asked last, as JSON.
    pub(super) fn take(&self, conversation: &str) -> String {
        self.posted.lock().unwrap_or_else(PoisonError::into_inner).remove(conversation).unwrap_or_default()
    }
}

async fn take(
    State(posted): State<Posted>,
    Path((conversation, _)): Path<(String, String)>,
    activity: String,
) -> impl IntoResponse {
    let mut posted = posted.lock().unwrap_or_else(PoisonError::into_inner);
    posted.entry(conversation).or_default().push_str(&activity);
    ([(CONTENT_TYPE, "application/json")], r#"{"id":"1"}"#)
}
