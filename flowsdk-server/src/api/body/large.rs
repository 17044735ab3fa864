//! Large bodies: only so many at a time, by callers in turns.

use std::time::Duration;

use axum::extract::Request;
use flowsdk_core::text::Text;
use http::{HeaderValue, StatusCode, header};

use super::{LIMIT, read};
use crate::api::error::ApiError;
use crate::api::limits::too_many;
use crate::gate::{self, Gate, GateConfig, Key, Refusal};

/// Large bodies that are read and worked on at once.
const PLACES: usize = 2;
/// Most requests that wait for one of the places; of one tenant half as many.
const WAITING: usize = 16;
/// How long such a request waits.
const PATIENCE: Duration = Duration::from_secs(60);
/// When a refused one is to come again.
const AGAIN: Duration = Duration::from_secs(10);

/// Decides who may send a body of more than [`LIMIT`] bytes now: its JSON takes many times its size in memory.
#[derive(Debug)]
pub struct LargeBodies(Gate);

/// The place of a large body. The memory for the body is free when the request is answered, so it is held until then.
#[derive(Debug)]
pub struct Place {
    _of: gate::Place,
}

impl Default for LargeBodies {
    fn default() -> Self {
        Self(Gate::new(GateConfig { places: PLACES, waiting: WAITING, patience: PATIENCE }))
    }
}

impl LargeBodies {
    /// Waits until the body of the request may be read; nobody waits with one that says that it is small.
    ///
    /// # Errors
    /// 429 when the caller's tenant has too many waiting already, 503 when too many wait, or for too long.
    pub(in crate::api) async fn admit(
        &self,
        request: Request,
        max: usize,
    ) -> Result<(Option<Place>, Request), ApiError> {
        if max <= LIMIT || read::said(request.headers()).is_some_and(|length| length <= LIMIT as u64) {
            return Ok((None, request));
        }
        match self.enter(request.extensions().get().copied()).await {
            Ok(place) => Ok((Some(place), request)),
            Err(error) => {
                read::discard(request).await;
                Err(error)
            }
        }
    }

    /// Waits until a large body that is stored may be worked on, for a caller with this key.
    ///
    /// # Errors
    /// As [`Self::admit`].
    pub(in crate::api) async fn enter(&self, key: Option<Key>) -> Result<Place, ApiError> {
        let place = self.0.enter(key.unwrap_or_else(|| Key::of("nobody"))).await;
        place.map(|place| Place { _of: place }).map_err(refused)
    }
}

fn refused(refusal: Refusal) -> ApiError {
    let error = match refusal {
        Refusal::Greedy => too_many(AGAIN),
        Refusal::Busy => {
            let text = Text::new(
                "Muitas importações em andamento; tente novamente mais tarde",
                "Too many imports are under way; try again later",
            );
            ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", text).retry_after(AGAIN)
        }
    };
    // The rest of the body is not waited for.
    error.with_header(header::CONNECTION, HeaderValue::from_static("close"))
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use futures_util::FutureExt as _;

    use super::*;

    const MAX: usize = 32 << 20;

    fn request(key: &str, length: Option<usize>) -> Request {
        let mut request = Request::builder();
        if let Some(length) = length {
            request = request.header(header::CONTENT_LENGTH, length);
        }
        let mut request = request.body(Body::empty()).expect("a request");
        request.extensions_mut().insert(Key::of(key));
        request
    }

    #[tokio::test]
    async fn only_large_bodies_wait_and_not_behind_one_tenant() {
        let bodies = LargeBodies::default();
        let large = |key| bodies.admit(request(key, Some(9 << 20)), MAX);
        let mut held = Vec::new();
        for _ in 0..PLACES {
            held.push(large("a").await.expect("a place").0.expect("a large body"));
        }
        let mut crowd: Vec<_> = (0..WAITING / 2).map(|_| Box::pin(large("a"))).collect();
        for waiting in &mut crowd {
            assert!(waiting.as_mut().now_or_never().is_none());
        }
        let error = large("a").await.expect_err("a crowd of one tenant");
        assert_eq!((error.status(), error.code()), (StatusCode::TOO_MANY_REQUESTS, "rate_limited"));
        let (place, _) = bodies.admit(request("a", Some(LIMIT)), MAX).await.expect("small");
        assert!(place.is_none());
        let mut other = Box::pin(bodies.admit(request("b", None), MAX));
        assert!(other.as_mut().now_or_never().is_none(), "one that does not say its length waits too");
        held.pop();
        assert!(other.now_or_never().is_some_and(|admitted| admitted.is_ok()), "and its turn is next");
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_waits_for_too_long_is_sent_away() {
        let bodies = LargeBodies::default();
        let mut held = Vec::new();
        for _ in 0..PLACES {
            held.push(bodies.admit(request("a", None), MAX).await.expect("a place"));
        }
        let error = bodies.admit(request("b", None), MAX).await.expect_err("too long");
        assert_eq!((error.status(), error.code()), (StatusCode::SERVICE_UNAVAILABLE, "unavailable"));
    }
}
