//! Requests that take a processor for long: only so many at a time, by callers in turns (rulings S19).

use std::convert::Infallible;
use std::num::NonZero;
use std::thread::available_parallelism;
use std::time::Duration;

use axum::extract::FromRequestParts;
use flowsdk_core::text::Text;
use http::StatusCode;
use http::request::Parts;

use super::error::ApiError;
use super::limits::too_many;
use super::state::ApiState;
use crate::gate::{Gate, GateConfig, Key, Place, Refusal};

/// Most requests that wait for a place; of one tenant half as many.
const WAITING: usize = 32;
/// How long such a request waits.
const PATIENCE: Duration = Duration::from_secs(30);
/// When a refused one is to come again.
const AGAIN: Duration = Duration::from_secs(5);

/// Decides who may have a flow checked, compared or drawn, or a report made, now. At least half of the processors are left to turns.
#[derive(Debug)]
pub struct HeavyWork(Gate);

impl Default for HeavyWork {
    fn default() -> Self {
        let processors = available_parallelism().map_or(1, NonZero::get);
        Self::of(processors / 2)
    }
}

impl HeavyWork {
    fn of(places: usize) -> Self {
        Self(Gate::new(GateConfig { places, waiting: WAITING, patience: PATIENCE }))
    }

    async fn enter(&self, key: Key) -> Result<Place, ApiError> {
        self.0.enter(key).await.map_err(|refusal| match refusal {
            Refusal::Greedy => too_many(AGAIN),
            Refusal::Busy => {
                let text = Text::new(
                    "Muitas análises em andamento; tente novamente mais tarde",
                    "Too many analyses are under way; try again later",
                );
                ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", text).retry_after(AGAIN)
            }
        })
    }
}

/// A place for such a request, until it is answered. In a handler it stands behind the guard, which knows whose turn
/// it is.
#[derive(Debug)]
pub(super) struct HeavyTurn {
    _place: Place,
}

impl FromRequestParts<ApiState> for HeavyTurn {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, ApiError> {
        let Ok(queue) = HeavyQueue::from_request_parts(parts, state).await;
        queue.turn().await
    }
}

/// The way to a place, for a handler that takes one only when it has the whole body: a slow one is not to hold it.
#[derive(Debug)]
pub(super) struct HeavyQueue {
    state: ApiState,
    key: Key,
}

impl HeavyQueue {
    /// Waits for a place.
    pub(super) async fn turn(&self) -> Result<HeavyTurn, ApiError> {
        Ok(HeavyTurn { _place: self.state.heavy_work().enter(self.key).await? })
    }
}

impl FromRequestParts<ApiState> for HeavyQueue {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, Infallible> {
        let key = parts.extensions.get().copied().unwrap_or_else(|| Key::of("nobody"));
        Ok(Self { state: state.clone(), key })
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn a_tenant_with_many_requests_holds_up_one_of_another_for_one_turn() {
        let work = HeavyWork::of(1);
        let (crowd, other) = (Key::of("a"), Key::of("b"));
        let first = work.enter(crowd).await.expect("a place");
        let mut waiting: Vec<_> = (0..WAITING / 2).map(|_| Box::pin(work.enter(crowd))).collect();
        for one in &mut waiting {
            assert!(one.as_mut().now_or_never().is_none());
        }
        let refused = work.enter(crowd).await.expect_err("a crowd");
        assert_eq!((refused.status(), refused.code()), (StatusCode::TOO_MANY_REQUESTS, "rate_limited"));
        let mut of_other = Box::pin(work.enter(other));
        assert!(of_other.as_mut().now_or_never().is_none());
        drop(first);
        let second = waiting.remove(0).now_or_never().expect("the crowd was first").expect("a place");
        drop(second);
        assert!(of_other.now_or_never().is_some_and(|place| place.is_ok()), "its turn is next");
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_waits_for_too_long_is_sent_away() {
        let work = HeavyWork::of(0);
        let _held = work.enter(Key::of("a")).await.expect("there is always a place");
        let refused = work.enter(Key::of("b")).await.expect_err("too long");
        assert_eq!((refused.status(), refused.code()), (StatusCode::SERVICE_UNAVAILABLE, "unavailable"));
    }
}
