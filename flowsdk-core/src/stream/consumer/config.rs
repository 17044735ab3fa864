//! The settings of a consumer.

use std::num::NonZero;
use std::thread::available_parallelism;
use std::time::Duration;

use crate::stream::lanes::Coalesce;

/// Longest pause of work that waits for storage to come back: conversations are to go on soon after that.
const LONGEST_OF_OUTAGE: Duration = Duration::from_secs(1);

/// How a consumer runs.
#[derive(Debug, Clone)]
pub struct ConsumerConfig {
    /// Name in logs and metrics.
    pub name: &'static str,
    /// Most entries held, waiting and running. Entries of classes below the first take at most half of it, so that
    /// they cannot keep the others out.
    pub capacity: usize,
    /// Most pieces of work in one batch.
    pub max_batch: usize,
    /// Most processor time of one batch, as far as its parties' costs let expect it: whoever comes meanwhile waits for
    /// as long.
    pub max_cost: Duration,
    /// Most batches at once, with those of a single piece; 1 where the database has one writer. At most half of them,
    /// and as many as [`aside`](Self::aside), are of parties whose pieces are dear.
    pub parallel: usize,
    /// Most pieces of long work that run beside the batches. By default half of the processors, so that batches always
    /// find one.
    pub aside: usize,
    /// How long a batch may wait to become as large as the one before: a commit costs the same for one
    /// entry and for a hundred. An entry that comes alone after another that came alone does not wait.
    pub gather: Duration,
    /// Failures after which work is set aside.
    pub max_attempts: u32,
    /// Pause after the first failure; it doubles up to 64 times itself.
    pub backoff: Duration,
    /// Longest pause that a handler can ask for.
    pub longest_pause: Duration,
    /// When entries of one key that join run as one piece of work; `None` means never.
    pub coalesce: Option<Coalesce>,
}

impl ConsumerConfig {
    /// Returns the defaults for a consumer of that name.
    pub fn named(name: &'static str) -> Self {
        Self {
            name,
            capacity: 16_384,
            max_batch: 128,
            max_cost: Duration::from_millis(10),
            parallel: 1,
            aside: (available_parallelism().map_or(1, NonZero::get) / 2).max(1),
            gather: Duration::ZERO,
            max_attempts: 5,
            backoff: Duration::from_millis(100),
            longest_pause: Duration::from_secs(60 * 60),
            coalesce: None,
        }
    }

    /// Returns how many batches of dear parties may run at once. Where it is 0, they share the batches of the others:
    /// one writer does not get faster by taking them apart.
    pub(super) fn dear_batches(&self) -> usize {
        (self.parallel / 2).min(self.aside)
    }

    /// Returns the pause after `attempts` failures; `after` is the pause that the handler asked for.
    pub(super) fn pause(&self, attempts: u32, after: Option<Duration>) -> Duration {
        match after {
            Some(after) => after.min(self.longest_pause),
            None => self.backoff.saturating_mul(1 << attempts.saturating_sub(1).min(6)),
        }
    }

    /// The same after failures that pass by themselves, such as a database that is away.
    pub(super) fn pause_of_outage(&self, attempts: u32, after: Option<Duration>) -> Duration {
        let pause = self.pause(attempts, after);
        if after.is_some() { pause } else { pause.min(LONGEST_OF_OUTAGE) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_unless_the_handler_names_one() {
        let config =
            ConsumerConfig { longest_pause: Duration::from_secs(60), ..ConsumerConfig::named("test") };
        let millis = |attempts, after| config.pause(attempts, after).as_millis();
        assert_eq!([0, 1, 2, 7, 8, 400].map(|n| millis(n, None)), [100, 100, 200, 6_400, 6_400, 6_400]);
        assert_eq!(millis(400, Some(Duration::ZERO)), 0);
        assert_eq!(millis(1, Some(Duration::from_secs(30))), 30_000);
        assert_eq!(millis(1, Some(Duration::MAX)), 60_000);
        let millis = |attempts, after| config.pause_of_outage(attempts, after).as_millis();
        assert_eq!([1, 3, 4, 5, 400].map(|n| millis(n, None)), [100, 400, 800, 1_000, 1_000]);
        assert_eq!(millis(1, Some(Duration::from_secs(30))), 30_000);
    }
}
