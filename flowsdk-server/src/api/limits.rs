//! How many requests a principal may make (rulings H10). In this process only: behind several processes each
//! allows as much.

use std::hash::{BuildHasher as _, RandomState};
use std::num::NonZeroU32;
use std::time::Duration;

use flowsdk_core::text::Text;
use governor::clock::{Clock as _, QuantaClock, QuantaInstant};
use governor::middleware::StateInformationMiddleware;
use governor::state::keyed::DashMapStateStore;
use governor::{Quota, RateLimiter};
use http::{HeaderMap, HeaderName, StatusCode};

use super::error::ApiError;
use super::request;

/// Requests that fit into the bucket.
pub(super) const LIMIT: HeaderName = HeaderName::from_static("ratelimit-limit");
/// Requests that may be made at once now.
pub(super) const REMAINING: HeaderName = HeaderName::from_static("ratelimit-remaining");
/// Seconds until the bucket is full again.
pub(super) const RESET: HeaderName = HeaderName::from_static("ratelimit-reset");

/// How much is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestRate {
    /// Requests a second, over time (`API_REQUESTS_PER_SECOND`); 0 means any number.
    pub per_second: u32,
    /// Requests at once (`API_BURST`).
    pub burst: u32,
}

/// The remaining requests of a principal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Allowance {
    limit: u32,
    remaining: u32,
    /// Seconds until the bucket is full.
    reset: u32,
}

impl Allowance {
    fn of(quota: Quota, remaining: u32) -> Self {
        let limit = quota.burst_size().get();
        let full = quota.replenish_interval() * limit.saturating_sub(remaining);
        let reset = full.as_secs() + u64::from(full.subsec_nanos() > 0);
        Self { limit, remaining, reset: u32::try_from(reset).unwrap_or(u32::MAX) }
    }

    /// Writes the rate limit headers.
    pub(super) fn write(self, headers: &mut HeaderMap) {
        headers.insert(LIMIT, self.limit.into());
        headers.insert(REMAINING, self.remaining.into());
        headers.insert(RESET, self.reset.into());
    }
}

/// By a keyed hash of the principal's id: a bucket then needs no text, and nobody can aim at another's.
type Buckets = RateLimiter<u64, DashMapStateStore<u64>, QuantaClock, StateInformationMiddleware>;

/// A bucket for each principal.
#[derive(Debug)]
pub struct RequestLimits {
    quota: Quota,
    buckets: Buckets,
    clock: QuantaClock,
    hasher: RandomState,
}

impl RequestLimits {
    /// Full buckets; `None` when nothing is limited.
    pub fn new(rate: RequestRate) -> Option<Self> {
        let per_second = NonZeroU32::new(rate.per_second)?;
        let quota = Quota::per_second(per_second).allow_burst(NonZeroU32::new(rate.burst)?);
        let clock = QuantaClock::default();
        let buckets = Buckets::new(quota, DashMapStateStore::default(), clock.clone());
        Some(Self { quota, buckets, clock, hasher: RandomState::new() })
    }

    /// Takes one request out of the principal's bucket; the headers of the answer tell the remaining ones.
    pub(super) fn admit(&self, principal: &str) -> Result<(), ApiError> {
        match self.buckets.check_key(&self.hasher.hash_one(principal)) {
            Ok(left) => {
                request::note(Allowance::of(self.quota, left.remaining_burst_capacity()));
                Ok(())
            }
            Err(full) => {
                request::note(Allowance::of(self.quota, 0));
                Err(too_many(full.wait_time_from(self.now())))
            }
        }
    }

    fn now(&self) -> QuantaInstant {
        self.clock.now()
    }

    /// Forgets the principals whose buckets are full.
    pub fn forget_quiet(&self) {
        self.buckets.retain_recent();
        self.buckets.shrink_to_fit();
    }
}

/// 429, to be tried again after `wait`.
pub(crate) fn too_many(wait: Duration) -> ApiError {
    let text =
        Text::new("Muitas requisições; tente novamente mais tarde", "Too many requests; try again later");
    ApiError::new(StatusCode::TOO_MANY_REQUESTS, "rate_limited", text).retry_after(wait)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_holds_a_burst_and_each_principal_has_his_own() {
        let limits = RequestLimits::new(RequestRate { per_second: 1, burst: 3 }).expect("limited");
        assert!((0..3).all(|_| limits.admit("ana").is_ok()));
        let refused = limits.admit("ana").expect_err("the fourth");
        assert_eq!((refused.status(), refused.code()), (StatusCode::TOO_MANY_REQUESTS, "rate_limited"));
        assert!(limits.admit("bia").is_ok());
        limits.forget_quiet();
        assert!(limits.admit("ana").is_err(), "a bucket that is not full is not forgotten");
    }

    #[test]
    fn nothing_is_limited_by_0() {
        assert!(RequestLimits::new(RequestRate { per_second: 0, burst: 3 }).is_none());
        assert!(RequestLimits::new(RequestRate { per_second: 3, burst: 0 }).is_none());
    }

    #[test]
    fn a_reset_is_the_time_until_the_bucket_is_full() {
        let quota = Quota::per_second(NonZeroU32::MIN.saturating_add(49))
            .allow_burst(NonZeroU32::MIN.saturating_add(99));
        assert_eq!(Allowance::of(quota, 100).reset, 0);
        assert_eq!(Allowance::of(quota, 99).reset, 1);
        assert_eq!(Allowance::of(quota, 0).reset, 2);
    }
}
