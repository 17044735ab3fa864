//! Bodies that are passed on as they come, such as files.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use flowsdk_core::fault::BoxError;
use flowsdk_core::media::Content;
use futures_util::stream::{self, StreamExt as _};
use http::header;
use http::request::Parts;
use http_body_util::BodyExt as _;
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::read;
use crate::api::error::ApiError;

/// A body whose bytes are read one after the other, of any type.
#[derive(Debug)]
pub(crate) struct StreamedBody {
    body: Arc<Mutex<Body>>,
    said: Option<u64>,
    /// Whether the client waits for an answer before it sends the body.
    is_expected: bool,
}

impl StreamedBody {
    /// Takes the body off a request.
    pub(crate) fn split(request: Request) -> (Parts, Self) {
        let (head, body) = request.into_parts();
        let said = read::said(&head.headers);
        let is_expected = head.headers.contains_key(header::EXPECT);
        (head, Self { body: Arc::new(Mutex::new(body)), said, is_expected })
    }

    /// Returns how many bytes the body has: what its head says, which is at most `max`, or `max` if that says nothing.
    /// Whoever reads the content stops at `max` all the same.
    ///
    /// # Errors
    /// The head says more.
    pub(crate) fn at_most(&self, max: u64) -> Result<u64, ApiError> {
        let size = self.said.unwrap_or(max);
        if size <= max { Ok(size) } else { Err(read::too_large(max)) }
    }

    /// Returns the bytes. They have the more time the more of them have come, so that a trickle holds nothing for long.
    pub(crate) fn content(&self) -> Content {
        let begun = Instant::now();
        let state = (Arc::clone(&self.body), 0);
        let pieces = stream::try_unfold(state, move |(body, come): (Arc<Mutex<Body>>, usize)| async move {
            loop {
                let frame = tokio::time::timeout_at(begun + read::patience(come), async {
                    body.lock().await.frame().await
                });
                let Some(frame) = frame.await.map_err(|_| BoxError::from("the body comes too slowly"))?
                else {
                    return Ok(None);
                };
                // Trailers are nobody's business.
                let Ok(piece) = frame.map_err(BoxError::from)?.into_data() else { continue };
                let come = come + piece.len();
                return Ok(Some((piece, (body, come))));
            }
        });
        pieces.boxed()
    }

    /// Returns what became of the request. The rest of a body that was not taken is read, as far as its client may not look
    /// at the answer before.
    ///
    /// # Errors
    /// That of the request.
    pub(crate) async fn or_discarded<T, E>(self, taken: Result<T, E>) -> Result<T, E> {
        if taken.is_err() {
            let mut body = self.body.lock().await;
            // A client that asks first sends nothing when it is refused.
            if !self.is_expected {
                read::drain(&mut body).await;
            }
        }
        taken
    }
}
