//! How fast the provider takes messages (WhatsApp Business Platform, "Throughput" and "Pair rate limits").

use std::collections::BTreeMap;
use std::time::Duration;

use flowsdk_core::time::Timestamp;
use serde::{Deserialize, Serialize};

/// Runs that are kept before those that have ended are forgotten.
const KEPT: usize = 10_000;

/// How fast messages are taken. 0 limits nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Most messages that a number sends in a second; what is more is refused with 130429.
    pub number_per_second: u32,
    /// One recipient takes a message of a number every so many seconds; what is more is refused with 131056.
    pub pair_seconds: u32,
    /// Most messages to one recipient within the seconds of one. The next has to wait for the seconds of them all. 0 is 1.
    pub pair_burst: u32,
}

impl Limits {
    /// The limits of a number at the provider that was never upgraded.
    pub const OF_PROVIDER: Self = Self { number_per_second: 80, pair_seconds: 6, pair_burst: 45 };

    fn number(self) -> Option<Pace> {
        let pace =
            Pace { window: Duration::from_secs(1), each: Duration::ZERO, most: self.number_per_second };
        (self.number_per_second > 0).then_some(pace)
    }

    fn pair(self) -> Option<Pace> {
        let period = Duration::from_secs(self.pair_seconds.into());
        let pace = Pace { window: period, each: period, most: self.pair_burst.max(1) };
        (self.pair_seconds > 0).then_some(pace)
    }
}

/// The limit that a message exceeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Excess {
    /// That of its number.
    Number,
    /// That of its number and recipient.
    Pair,
}

impl Excess {
    /// Returns the error of the provider.
    pub(super) fn error(self) -> (i64, &'static str) {
        match self {
            Self::Number => (130_429, "Rate limit hit"),
            Self::Pair => (131_056, "(Business Account, Consumer Account) pair rate limit hit"),
        }
    }
}

/// How many messages may follow each other.
#[derive(Debug, Clone, Copy)]
struct Pace {
    /// They come within this time,
    window: Duration,
    /// and each of them keeps the next ones waiting for so long.
    each: Duration,
    most: u32,
}

/// Messages that followed each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Run {
    begun: Timestamp,
    count: u32,
}

impl Run {
    fn has_ended(self, pace: Pace, now: Timestamp) -> bool {
        now >= self.begun + pace.window.max(pace.each * self.count)
    }

    /// Returns the run with one more message, or another one that begins with it; `None` if it comes too soon.
    fn with_one_more(run: Option<Self>, pace: Pace, now: Timestamp) -> Option<Self> {
        let Some(run) = run.filter(|run| !run.has_ended(pace, now)) else {
            return Some(Self { begun: now, count: 1 });
        };
        let has_room = now < run.begun + pace.window && run.count < pace.most;
        has_room.then_some(Self { count: run.count + 1, ..run })
    }
}

/// What was sent of late, by number, and by number and recipient.
#[derive(Debug, Default)]
pub(super) struct Traffic {
    numbers: BTreeMap<String, Run>,
    pairs: BTreeMap<(String, String), Run>,
}

impl Traffic {
    /// Counts a message, unless it exceeds a limit. What is refused counts for none.
    pub(super) fn take(
        &mut self,
        limits: Limits,
        number: &str,
        phone: &str,
        now: Timestamp,
    ) -> Result<(), Excess> {
        let pair = (number.to_owned(), phone.to_owned());
        let of_number = limits.number().map(|pace| {
            Run::with_one_more(self.numbers.get(number).copied(), pace, now).ok_or(Excess::Number)
        });
        let of_pair = limits
            .pair()
            .map(|pace| Run::with_one_more(self.pairs.get(&pair).copied(), pace, now).ok_or(Excess::Pair));
        let (of_number, of_pair) = (of_number.transpose()?, of_pair.transpose()?);
        if let Some(pace) = limits.pair().filter(|_| self.pairs.len() >= KEPT) {
            self.pairs.retain(|_, run| !run.has_ended(pace, now));
        }
        self.numbers.extend(of_number.map(|run| (number.to_owned(), run)));
        self.pairs.extend(of_pair.map(|run| (pair, run)));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Messages at these milliseconds, each to the phone beside it, and whether they are taken.
    fn taken(limits: Limits, messages: &[(i64, &str)]) -> Vec<Result<(), Excess>> {
        let mut traffic = Traffic::default();
        let mut take =
            |(at, phone): &(i64, &str)| traffic.take(limits, "111", phone, Timestamp::from_millis(*at));
        messages.iter().map(&mut take).collect()
    }

    #[test]
    fn nothing_is_limited_unless_it_is_asked_for() {
        let many = vec![(7, "1"); 1_000];
        assert!(taken(Limits::default(), &many).iter().all(Result::is_ok));
    }

    #[test]
    fn a_number_sends_so_many_in_a_second() {
        let limits = Limits { number_per_second: 2, ..Limits::default() };
        let messages =
            [(0, "1"), (400, "2"), (999, "3"), (1_000, "3"), (1_500, "1"), (1_999, "1"), (2_000, "1")];
        let too_soon = Err(Excess::Number);
        assert_eq!(taken(limits, &messages), [Ok(()), Ok(()), too_soon, Ok(()), Ok(()), too_soon, Ok(())]);
    }

    #[test]
    fn messages_to_one_recipient_keep_the_next_ones_waiting() {
        let limits = Limits { pair_seconds: 6, pair_burst: 3, ..Limits::default() };
        let messages = [
            (0, "1", true),
            (10, "1", true),
            (20, "2", true),
            (30, "1", true),
            (40, "1", false),
            (17_999, "1", false),
            (18_000, "1", true),
            (24_000, "1", true),
            (30_000, "1", true),
        ];
        for ((at, phone, is_taken), taken) in
            messages.iter().zip(taken(limits, &messages.map(|(at, phone, _)| (at, phone))))
        {
            assert_eq!(taken, if *is_taken { Ok(()) } else { Err(Excess::Pair) }, "{at} {phone}");
        }
        // 20 at once, and the next after two minutes.
        let mut burst = vec![(0, "1"); 20];
        burst.extend([(119_999, "1"), (120_000, "1")]);
        let all = taken(Limits::OF_PROVIDER, &burst);
        assert_eq!(all.iter().filter(|one| one.is_ok()).count(), 21);
        assert_eq!(all[20], Err(Excess::Pair));
    }

    #[test]
    fn runs_that_have_ended_are_forgotten() {
        let (mut traffic, limits) = (Traffic::default(), Limits { pair_seconds: 1, ..Limits::default() });
        for nth in 0..=KEPT {
            let at = if nth < KEPT { 0 } else { 1_000 };
            let taken = traffic.take(limits, "111", &nth.to_string(), Timestamp::from_millis(at));
            assert_eq!(taken, Ok(()));
        }
        assert_eq!(traffic.pairs.len(), 1);
    }
}
