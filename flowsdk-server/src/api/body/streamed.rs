//! Bodies that are passed on as they come, such as files.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use flowsdk_core::fault::BoxError;
use flowsdk_core::media::Content;
use futures_util::stream::{self, StreamExt as _};
use http_body_util::BodyExt as _;
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::read;
use crate::api::error::ApiError;

/// A body whose bytes are read one after the other, of any type.
#[derive(Debug)]
pub(crate) struct StreamedBody(Arc<Mutex<Body>>);

impl StreamedBody {
    /// Takes the body of a request, unless that says that it has more than `max` bytes. Whoever reads the content stops
    /// at that size, too.
    ///
    /// # Errors
    /// It is too large.
    pub(crate) async fn of(request: Request, max: u64) -> Result<Self, ApiError> {
        if read::said(request.headers()).is_some_and(|length| length > max) {
            read::discard(request).await;
            return Err(read::too_large(max));
        }
        Ok(Self(Arc::new(Mutex::new(request.into_body()))))
    }

    /// Returns the bytes. They have the more time the more of them have come, so that a trickle holds nothing for long.
    pub(crate) fn content(&self) -> Content {
        let begun = Instant::now();
        let state = (Arc::clone(&self.0), 0);
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

    /// Returns what became of the content. The rest of one that was not taken is read, as far as its client may not look at
    /// the answer before.
    ///
    /// # Errors
    /// That of the content.
    pub(crate) async fn or_discarded<T, E>(self, taken: Result<T, E>) -> Result<T, E> {
        if taken.is_err() {
            read::drain(&mut *self.0.lock().await).await;
        }
        taken
    }
}
