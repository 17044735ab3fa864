//! Races whose contenders answer requests: one measurement, and its row in a table.

use anyhow::Result;
use serde::Serialize;

use crate::load::Outcome;
use crate::machine;
use crate::report::{self, Contender, Measured, Spread, Table};

/// One measurement of a contender in a round.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Run<C> {
    contender: C,
    round: u32,
    /// Requests a second.
    rate: f64,
    /// Processor time of the server for each request.
    cpu_micros: f64,
    p50_ms: f64,
    p99_ms: f64,
    resident_kib: u64,
    /// Why it does not count.
    fault: Option<String>,
}

impl<C: Contender> Run<C> {
    /// Takes the figures of a measurement, while its server still runs as the process `pid`.
    pub(crate) fn of(contender: C, round: u32, outcome: &Outcome, pid: u32) -> Result<Self> {
        Ok(Self {
            contender,
            round,
            rate: outcome.rate(),
            cpu_micros: outcome.cpu_per_message(),
            p50_ms: outcome.latency(0.5),
            p99_ms: outcome.latency(0.99),
            resident_kib: machine::resident_kib(pid)?,
            fault: outcome.fault(),
        })
    }

    /// Adds a reason why it does not count, unless there is one.
    pub(crate) fn with_fault(mut self, fault: Option<String>) -> Self {
        self.fault = self.fault.or(fault);
        self
    }
}

impl<C: Contender> Measured for Run<C> {
    type Contender = C;

    fn contender(&self) -> C {
        self.contender
    }

    fn figures(&self) -> String {
        let Self { contender, round, rate, cpu_micros, p50_ms, p99_ms, resident_kib, .. } = self;
        format!(
            "round {round}, {}: {rate:.0}/s, {cpu_micros:.1} us CPU, p50 {p50_ms:.2} p99 {p99_ms:.2} ms, {} MiB",
            contender.name(),
            resident_kib / 1024
        )
    }

    fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }
}

/// The figures of a contender over all rounds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Figures {
    /// Requests a second.
    pub(crate) rate: Spread,
    /// Milliseconds.
    pub(crate) p99_ms: Spread,
    /// Resident memory.
    pub(crate) mebibytes: Spread,
    cpu_micros: Spread,
    p50_ms: Spread,
}

impl Figures {
    /// Returns those of `who`, if any of its runs counts.
    pub(crate) fn of<C: Contender>(runs: &[Run<C>], who: C) -> Option<Self> {
        let spread = |value| report::spread(runs, who, value);
        Some(Self {
            rate: spread(|run| run.rate)?,
            p99_ms: spread(|run| run.p99_ms)?,
            mebibytes: spread(|run| run.resident_kib as f64 / 1024.0)?,
            cpu_micros: spread(|run| run.cpu_micros)?,
            p50_ms: spread(|run| run.p50_ms)?,
        })
    }

    /// Returns an empty table of figures, where a request is called `what` and several are `whats`, and `more` columns at
    /// its end.
    pub(crate) fn table([what, whats]: [&str; 2], more: &[&str]) -> Table {
        let (rate, cpu) = (format!("{whats}/s"), format!("server CPU, us/{what}"));
        let columns = ["", &*rate, &*cpu, "p50, ms", "p99, ms", "resident, MiB"];
        Table::new(&[&columns, more].concat())
    }

    /// Returns the cells of a row of that table, without those of its further columns.
    pub(crate) fn cells(&self, who: impl Contender) -> [String; 6] {
        let Self { rate, p99_ms, mebibytes, cpu_micros, p50_ms } = self;
        [
            who.name().to_owned(),
            rate.to_string(),
            cpu_micros.to_string(),
            p50_ms.to_string(),
            p99_ms.to_string(),
            mebibytes.to_string(),
        ]
    }

    /// Returns how many times the rate of `peer` this is.
    pub(crate) fn times(&self, peer: Option<&Self>) -> Option<f64> {
        peer.map(|peer| self.rate.median / peer.rate.median)
    }
}
