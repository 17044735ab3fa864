//! A limit of what strangers may try: routes without a token answer an address no more that was refused too often (rulings
//! H15).

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use flowsdk_core::place::Place;
use http::StatusCode;
use moka::sync::Cache;

use crate::api::limits::too_many;

/// The period in which refusals count together, from the first of them.
const PERIOD: Duration = Duration::from_secs(60);
/// Most places whose refusals are counted.
const PLACES: u64 = 100_000;

/// Counts the refusals of each place. Whoever has the right link or key is never counted: the provider asks for many from one
/// place.
#[derive(Debug, Clone)]
pub(crate) struct Refusals {
    most: u32,
    trusted_proxies: u32,
    counts: Cache<Place, Arc<AtomicU32>>,
}

impl Refusals {
    /// Lets a place be refused `most` times in a minute; 0 switches the limit off.
    pub(crate) fn new(most: u32, trusted_proxies: u32) -> Self {
        let counts = Cache::builder().max_capacity(PLACES).time_to_live(PERIOD).build();
        Self { most, trusted_proxies, counts }
    }

    /// Returns the routes with this limit.
    pub(crate) fn limit(self, routes: Router) -> Router {
        if self.most == 0 { routes } else { routes.layer(middleware::from_fn_with_state(self, guard)) }
    }

    fn are_too_many(&self, place: Place) -> bool {
        self.counts.get(&place).is_some_and(|count| count.load(Ordering::Relaxed) >= self.most)
    }

    fn count(&self, place: Place) {
        self.counts.get_with(place, Arc::default).fetch_add(1, Ordering::Relaxed);
    }
}

/// Whether an answer says that the caller has no right link, key or name of anything.
fn is_refusal(status: StatusCode) -> bool {
    // 432 is how the provider wants to be told that its signature is wrong.
    matches!(status.as_u16(), 403 | 404 | 432)
}

async fn guard(State(refusals): State<Refusals>, request: Request, next: Next) -> Response {
    let caller = crate::caller::address(request.headers(), request.extensions(), refusals.trusted_proxies);
    let place = Place::of(caller);
    if refusals.are_too_many(place) {
        return too_many(PERIOD).into_response();
    }
    let answer = next.run(request).await;
    if is_refusal(answer.status()) {
        refusals.count(place);
    }
    answer
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    #[test]
    fn each_place_has_its_own_count() {
        let refusals = Refusals::new(2, 0);
        let place = |address: &str| Place::of(address.parse::<IpAddr>().expect("an address"));
        for _ in 0..2 {
            assert!(!refusals.are_too_many(place("192.0.2.1")));
            refusals.count(place("192.0.2.1"));
        }
        assert!(refusals.are_too_many(place("192.0.2.1")));
        assert!(!refusals.are_too_many(place("192.0.2.2")));
    }

    #[test]
    fn only_what_strangers_try_is_counted() {
        for (status, counts) in [
            (200, false),
            (206, false),
            (403, true),
            (404, true),
            (416, false),
            (427, false),
            (432, true),
            (503, false),
        ] {
            assert_eq!(is_refusal(StatusCode::from_u16(status).expect("a status")), counts, "{status}");
        }
    }
}
