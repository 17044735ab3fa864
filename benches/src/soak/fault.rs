//! The faults of a soak, drawn from its seed.

use std::fmt;
use std::time::Duration;

use crate::random::Random;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// `kill -9` of a server, and a new start.
    Kill,
    /// A server is stopped with SIGTERM and started again.
    Restart,
    /// A server sleeps for longer than its leases.
    Sleep,
    /// A server is killed and started with a clock that is ahead or behind.
    Clock,
    /// Redis is killed and started again.
    Redis,
    /// PostgreSQL is stopped at once and started again.
    Postgres,
}

impl Kind {
    /// How long it may last, in milliseconds.
    fn lengths(self) -> (u64, u64) {
        match self {
            Self::Kill | Self::Clock => (0, 4_000),
            Self::Restart => (0, 500),
            Self::Sleep => (2_000, 8_000),
            Self::Redis | Self::Postgres => (1_000, 12_000),
        }
    }
}

/// A fault that is to be inflicted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    /// The time without a fault before it.
    pub(super) after: Duration,
    pub(super) kind: Kind,
    /// Which of the servers, counted round.
    pub(super) server: usize,
    pub(super) length: Duration,
    /// By how many seconds the clock is ahead afterwards.
    pub(super) ahead: i64,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.length.as_secs_f64();
        match self.kind {
            Kind::Kill => write!(f, "kill -9, away for {seconds:.1} s"),
            Kind::Restart => write!(f, "SIGTERM, and a new start"),
            Kind::Sleep => write!(f, "SIGSTOP for {seconds:.1} s"),
            Kind::Clock => write!(f, "kill -9, started with a clock {:+} s", self.ahead),
            Kind::Redis => write!(f, "Redis away for {seconds:.1} s"),
            Kind::Postgres => write!(f, "PostgreSQL away for {seconds:.1} s"),
        }
    }
}

/// A sequence of faults, one at a time, endless where there is a kind.
pub(super) struct Faults {
    random: Random,
    kinds: Vec<Kind>,
}

impl Faults {
    /// Those of a seed; none without a kind.
    pub(super) fn new(random: Random, kinds: Vec<Kind>) -> Self {
        Self { random, kinds }
    }
}

impl Iterator for Faults {
    type Item = Fault;

    fn next(&mut self) -> Option<Fault> {
        if self.kinds.is_empty() {
            return None;
        }
        let random = &mut self.random;
        let after = random.millis(4_000, 16_000);
        let kind = random.pick(&self.kinds);
        let (low, high) = kind.lengths();
        let (server, length) = (random.between(0, 1_000) as usize, random.millis(low, high));
        let away = random.between(1, 10) as i64;
        let ahead = match kind {
            Kind::Clock if random.chance(50) => away,
            Kind::Clock => -away,
            _ => 0,
        };
        Some(Fault { after, kind, server, length, ahead })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_repeats_its_faults_and_every_kind_comes() {
        let kinds = [Kind::Kill, Kind::Restart, Kind::Sleep, Kind::Clock, Kind::Redis, Kind::Postgres];
        let draw = |seed| Faults::new(Random::new(seed), kinds.to_vec()).take(200).collect::<Vec<_>>();
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
        assert_eq!(Faults::new(Random::new(7), Vec::new()).next(), None);
        for kind in kinds {
            assert!(draw(7).iter().any(|fault| fault.kind == kind), "{kind:?}");
        }
        for fault in draw(7) {
            assert_eq!(fault.ahead != 0, fault.kind == Kind::Clock, "{fault:?}");
            let (low, high) = fault.kind.lengths();
            assert!((u128::from(low)..=u128::from(high)).contains(&fault.length.as_millis()));
        }
    }
}
