//! The turns of the contenders: how many, who takes part, and in which order.

use std::fmt::Display;
use std::time::Duration;

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};

/// The extent of a race.
#[derive(Args, Debug, Clone)]
pub(crate) struct Extent<C: ValueEnum + Clone + Send + Sync + 'static> {
    /// How often everything is repeated, in turns A B B A
    #[arg(long, default_value_t = 5)]
    pub(crate) rounds: u32,
    /// Seconds of each measurement
    #[arg(long, default_value_t = 6.0)]
    pub(crate) seconds: f64,
    #[command(flatten)]
    pub(crate) wanted: Wanted<C>,
}

impl<C: ValueEnum + Clone + Send + Sync + 'static> Extent<C> {
    /// Returns how long each measurement takes.
    pub(crate) fn window(&self) -> Duration {
        Duration::from_secs_f64(self.seconds)
    }
}

/// The contenders that are wanted.
#[derive(Args, Debug, Clone)]
pub(crate) struct Wanted<C: ValueEnum + Clone + Send + Sync + 'static> {
    /// Only these
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<C>,
}

impl<C: ValueEnum + Copy + PartialEq + Send + Sync + 'static> Wanted<C> {
    /// Returns those of `all` that are wanted.
    pub(crate) fn field(&self, all: &[C]) -> Field<C> {
        let is_wanted = |one: &&C| self.only.is_empty() || self.only.contains(one);
        Field(all.iter().filter(is_wanted).copied().collect())
    }
}

/// Those who take part.
#[derive(Debug)]
pub(crate) struct Field<C>(Vec<C>);

impl<C: Copy> Field<C> {
    /// All of these.
    pub(crate) fn of(wanted: &[C]) -> Self {
        Self(wanted.to_vec())
    }

    /// Leaves `whom` out, and says why, if they were to take part.
    pub(crate) fn leave_out(&mut self, why: impl Display, whom: impl Fn(C) -> bool) {
        if self.0.iter().any(|&one| whom(one)) {
            eprintln!("flowsdk-benches: left out: {why:#}");
            self.0.retain(|&one| !whom(one));
        }
    }

    /// Returns whether any of `whom` take part.
    pub(crate) fn has(&self, whom: impl Fn(C) -> bool) -> bool {
        self.0.iter().any(|&one| whom(one))
    }

    /// Runs everybody once in every round, the order reversed in every other: A B B A.
    pub(crate) fn in_turns(&self, rounds: u32, mut turn: impl FnMut(C, u32) -> Result<()>) -> Result<()> {
        if self.0.is_empty() {
            bail!("nobody can run");
        }
        for round in 0..rounds {
            let mut order = self.0.clone();
            if round % 2 == 1 {
                order.reverse();
            }
            for who in order {
                turn(who, round)?;
            }
        }
        Ok(())
    }
}
