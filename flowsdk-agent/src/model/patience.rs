//! How often a model is asked again.

use std::hash::{BuildHasher as _, RandomState};
use std::time::Duration;

use super::ModelError;

/// The first pause, before jitter.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// The longest pause that grows by itself, before jitter.
const LONGEST_PAUSE: Duration = Duration::from_secs(8);

/// How long a turn waits for a model, over all of its calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// How often one call is made again at most.
    pub retries: u32,
    /// How long the turn may take from its beginning. A pause that would end later is not made.
    pub turn: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { retries: 4, turn: Duration::from_mins(2) }
    }
}

impl Patience {
    /// Returns the pause before a call is made again that has failed `failures` times, at least once; `None` when it is given
    /// up. `spent` is how long the turn has taken. `jitter`, from 0 to 1, shortens a pause that the provider did not ask for
    /// by up to a half, so that turns that failed together do not come back together.
    pub fn pause(&self, error: &ModelError, failures: u32, spent: Duration, jitter: f64) -> Option<Duration> {
        if !error.is_passing() || failures > self.retries {
            return None;
        }
        let growing = FIRST_PAUSE.saturating_mul(1 << failures.saturating_sub(1).min(16)).min(LONGEST_PAUSE);
        let pause = match error {
            ModelError::Unavailable { retry_after: Some(asked), .. } => *asked,
            _ => growing.mul_f64(1.0 - jitter.clamp(0.0, 1.0) / 2.0),
        };
        (spent.saturating_add(pause) < self.turn).then_some(pause)
    }
}

/// Returns a number from 0 to 1, another one each time.
pub(crate) fn jitter() -> f64 {
    let random = RandomState::new().hash_one(0_u8);
    (random >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: Duration = Duration::ZERO;

    fn busy(seconds: Option<u64>) -> ModelError {
        ModelError::Unavailable { reason: "429".to_owned(), retry_after: seconds.map(Duration::from_secs) }
    }

    #[test]
    fn pauses_grow_until_the_call_is_given_up() {
        let patience = Patience { retries: 6, turn: Duration::from_mins(10) };
        let pauses: Vec<_> =
            (1..=7).map(|failures| patience.pause(&busy(None), failures, NONE, 0.0)).collect();
        let expected =
            [500, 1_000, 2_000, 4_000, 8_000, 8_000].map(|millis| Some(Duration::from_millis(millis)));
        assert_eq!(pauses, [&expected[..], &[None]].concat());
        assert_eq!(patience.pause(&busy(None), 1, NONE, 1.0), Some(Duration::from_millis(250)));
    }

    #[test]
    fn a_provider_is_left_alone_as_long_as_it_asks_and_the_turn_may_take() {
        let patience = Patience { retries: 3, turn: Duration::from_secs(30) };
        assert_eq!(patience.pause(&busy(Some(9)), 1, NONE, 1.0), Some(Duration::from_secs(9)));
        assert_eq!(patience.pause(&busy(Some(30)), 1, NONE, 0.0), None);
        assert_eq!(patience.pause(&busy(Some(9)), 1, Duration::from_secs(25), 0.0), None);
        assert_eq!(patience.pause(&busy(Some(u64::MAX)), 1, Duration::from_secs(25), 0.0), None);
    }

    #[test]
    fn what_no_time_mends_is_not_tried_again() {
        let patience = Patience::default();
        let reason = String::new;
        for (error, is_tried) in [
            (busy(None), true),
            (ModelError::Unreadable { reason: reason() }, true),
            (ModelError::Account { reason: reason() }, false),
            (ModelError::Refused { reason: reason() }, false),
            (ModelError::PreviousLost, false),
            (ModelError::TooLong, false),
        ] {
            assert_eq!(patience.pause(&error, 1, NONE, 0.0).is_some(), is_tried, "{error}");
        }
    }
}
