//! A sliding window made of two fixed ones: the count of the window before fades out while the present one
//! passes. Two numbers a subject, and no burst of twice the limit where one window ends.

use std::time::Duration;

use flowsdk_core::time::Timestamp;

/// A fixed window of a length, aligned to the epoch, and how much of it has passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) number: i64,
    length: i64,
    elapsed: i64,
}

impl Window {
    /// Returns the window of `now`; `length` counts in milliseconds.
    pub(super) fn at(now: Timestamp, length: Duration) -> Self {
        let length = i64::try_from(length.as_millis()).unwrap_or(i64::MAX).max(1);
        let now = now.as_millis();
        Self { number: now.div_euclid(length), length, elapsed: now.rem_euclid(length) }
    }

    /// How long one more has to wait, or `None` when it may pass now: with it no more than `most` are in the
    /// sliding window, of which `before` were in the window before and `others` are in the present one.
    pub(super) fn wait(self, most: u32, before: i64, others: i64) -> Option<Duration> {
        let most = i128::from(most);
        let (before, others) = (i128::from(before.max(0)), i128::from(others.max(0)));
        let (length, elapsed) = (i128::from(self.length), i128::from(self.elapsed));
        let fits = |fading: i128, elapsed: i128, more: i128| {
            fading * (length - elapsed) + more * length <= most * length
        };
        if fits(before, elapsed, others + 1) {
            return None;
        }
        // The moment of a window from which one more fits beside those that fade out.
        let opens = |fading: i128, more: i128| match fading {
            0 => 0,
            fading => (length - (most - more).max(0) * length / fading).clamp(0, length),
        };
        let wait = if others < most {
            opens(before, others + 1) - elapsed
        } else {
            length - elapsed + opens(others, 1)
        };
        Some(Duration::from_millis(u64::try_from(wait.max(1)).unwrap_or(u64::MAX)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{ProptestConfig, prop_assert, prop_assert_eq, proptest};

    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    fn at(seconds: i64) -> Window {
        Window::at(Timestamp::from_millis(seconds * 1_000), MINUTE)
    }

    #[test]
    fn the_window_before_fades_out() {
        for (seconds, before, others, wait) in [
            (0, 0, 0, None),
            (0, 0, 9, None),
            (0, 0, 10, Some(66)),
            (59, 0, 10, Some(7)),
            // All ten of the minute before still count.
            (60, 10, 0, Some(6)),
            (66, 10, 0, None),
            (90, 10, 4, None),
            (90, 10, 5, Some(6)),
            (119, 10, 8, None),
            (119, 10, 9, Some(1)),
            // More than the limit, because the limit was lowered.
            (60, 100, 0, Some(55)),
            (60, 0, 100, Some(115)),
        ] {
            let found = at(seconds).wait(10, before, others);
            let seconds_left = found.map(|wait| wait.as_millis().div_ceil(1_000));
            assert_eq!(seconds_left, wait, "{seconds} s, {before} before, {others} others");
        }
    }

    #[test]
    fn windows_are_aligned_also_before_the_epoch() {
        assert_eq!(at(59).number, 0);
        assert_eq!(at(60).number, 1);
        assert_eq!(at(-1).number, -1);
        assert_eq!(Window::at(Timestamp::from_millis(5), Duration::ZERO).number, 5);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]
        /// A caller who waits as long as they are told may pass, unless others came meanwhile.
        #[test]
        fn the_wait_is_long_enough(
            most in 1..50_u32, before in 0..100_i64, others in 0..100_i64, millis in 0..60_000_i64,
        ) {
            let now = Timestamp::from_millis(600_000 + millis);
            let window = Window::at(now, MINUTE);
            if let Some(wait) = window.wait(most, before, others) {
                prop_assert!(wait <= MINUTE * 2);
                let later = Window::at(now + wait, MINUTE);
                let (before, others) = match later.number - window.number {
                    0 => (before, others),
                    1 => (others, 0),
                    _ => (0, 0),
                };
                prop_assert_eq!(later.wait(most, before, others), None);
            }
        }
    }
}
