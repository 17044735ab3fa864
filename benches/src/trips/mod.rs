//! Stored round trips of visitors: what the races on them have in common.

pub(crate) mod report;

use std::time::Duration;

use anyhow::Result;
use clap::Args;
use serde::Serialize;
use tokio::runtime::Runtime;

use crate::load::{self, Entrance, Outcome, Plan};
use crate::machine;
use crate::report::Measured;

/// The visitors of a race.
#[derive(Args, Debug, Clone)]
pub(crate) struct Crowd {
    /// Connections of the closed loops; the first of these is the one whose half rate is paced
    #[arg(long, value_delimiter = ',', default_value = "100,1000")]
    pub(crate) connections: Vec<usize>,
    /// Visitors acknowledge the messages that they receive
    #[arg(long)]
    pub(crate) acknowledge: bool,
}

/// A contender of a race on round trips.
pub(crate) trait Contender: crate::report::Contender {
    /// Returns whether answers come in the order of the messages even if several are under way.
    fn keeps_order(self) -> bool {
        true
    }
}

/// A contender that takes visitors.
pub(crate) trait Stand {
    /// Returns the processes under test.
    fn pids(&self) -> Vec<u32>;

    /// Returns the endpoints; visitors are spread over them.
    fn entrances(&self) -> Vec<Entrance>;

    /// Returns the `auth` of a visitor.
    fn auth(&self, visitor: &str) -> Result<String>;

    /// Returns the right answer to message `n` (from 1) of a visitor.
    fn answer(&self) -> fn(u64, &str) -> String;
}

/// One measurement of a contender in a round.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Run<C> {
    pub(crate) contender: C,
    pub(crate) round: u32,
    /// Visitors at once; 0 where the work was done without them.
    pub(crate) connections: usize,
    /// Messages a second that were asked for; `None` in a closed loop.
    pub(crate) paced: Option<f64>,
    pub(crate) rate: f64,
    pub(crate) cpu_micros: f64,
    pub(crate) p50_ms: f64,
    pub(crate) p99_ms: f64,
    pub(crate) p999_ms: f64,
    pub(crate) resident_kib: u64,
    /// Why it does not count.
    pub(crate) fault: Option<String>,
}

impl<C: Contender> Measured for Run<C> {
    type Contender = C;

    fn contender(&self) -> C {
        self.contender
    }

    fn figures(&self) -> String {
        let kind = match (self.connections, self.paced) {
            (0, _) => "no connections".to_owned(),
            (connections, Some(rate)) => format!("{connections} connections, paced {rate:.0}/s"),
            (connections, None) => format!("{connections} connections"),
        };
        let Run { round, rate, cpu_micros, p50_ms, p99_ms, p999_ms, .. } = self;
        format!(
            "round {round}, {}, {kind}: {rate:.0}/s, {cpu_micros:.1} us CPU, p50 {p50_ms:.2} p99 {p99_ms:.2} \
             p999 {p999_ms:.2} ms",
            self.contender.name()
        )
    }

    fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }
}

/// The rows that a contender has stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rows {
    pub(crate) inbound: u64,
    pub(crate) outbound: u64,
}

impl Rows {
    /// Returns why they are not the rows of `written` messages with an answer each, if they are not.
    pub(crate) fn fault(self, written: u64) -> Option<String> {
        let Self { inbound, outbound } = self;
        let fault = || format!("{written} messages, but {inbound} rows in and {outbound} rows out");
        (inbound != written || outbound != written).then(fault)
    }
}

/// The measurements of one contender in one round.
#[derive(Debug)]
pub(crate) struct Turn<C> {
    pub(crate) runs: Vec<Run<C>>,
    /// Messages written in all of them.
    pub(crate) written: u64,
}

impl<C> Turn<C> {
    /// Notes that no run counts unless the rows are those of all messages.
    pub(crate) fn check(&mut self, rows: Rows) {
        if let Some(fault) = rows.fault(self.written) {
            for run in &mut self.runs {
                run.fault.get_or_insert(fault.clone());
            }
        }
    }
}

/// Carries out every measurement: a closed loop for each number of connections, and half the rate of the first.
pub(crate) fn take_turn<C: Contender>(
    crowd: &Crowd,
    window: Duration,
    runtime: &Runtime,
    stand: &impl Stand,
    contender: C,
    round: u32,
) -> Result<Turn<C>> {
    let mut turn = Turn { runs: Vec::new(), written: 0 };
    let mut measure = |phase: usize, connections: usize, paced: Option<f64>| -> Result<f64> {
        let outcome = runtime.block_on(load::run(plan(crowd, window, stand, phase, connections, paced)?))?;
        turn.written += outcome.written;
        let run = note(contender, round, connections, paced, &stand.pids(), &outcome)?;
        eprintln!("{}", crate::report::line(&run));
        turn.runs.push(run);
        Ok(outcome.rate())
    };
    let mut first = None;
    for (phase, &connections) in crowd.connections.iter().enumerate() {
        let rate = measure(phase, connections, None)?;
        first.get_or_insert((connections, rate));
    }
    if let Some((connections, rate)) = first.filter(|_| contender.keeps_order()) {
        measure(crowd.connections.len(), connections, Some(rate / 2.0))?;
    }
    Ok(turn)
}

fn plan(
    crowd: &Crowd,
    window: Duration,
    stand: &impl Stand,
    phase: usize,
    connections: usize,
    pace: Option<f64>,
) -> Result<Plan> {
    // Visitors of their own, so that every phase begins new sessions.
    let auths = (0..connections).map(|number| stand.auth(&format!("p{phase}n{number}")));
    Ok(Plan {
        entrances: stand.entrances(),
        auths: auths.collect::<Result<_>>()?,
        pace,
        window,
        answer: stand.answer(),
        pids: stand.pids(),
        acknowledge: crowd.acknowledge,
    })
}

fn note<C>(
    contender: C,
    round: u32,
    connections: usize,
    paced: Option<f64>,
    pids: &[u32],
    outcome: &Outcome,
) -> Result<Run<C>> {
    let resident_kib = pids.iter().map(|&pid| machine::resident_kib(pid)).sum::<Result<u64>>()?;
    Ok(Run {
        contender,
        round,
        connections,
        paced,
        rate: outcome.rate(),
        cpu_micros: outcome.cpu_per_message(),
        p50_ms: outcome.latency(0.5),
        p99_ms: outcome.latency(0.99),
        p999_ms: outcome.latency(0.999),
        resident_kib,
        fault: outcome.fault(),
    })
}

/// The flow of the races: three blocks in a ring.
pub(crate) fn ring(n: u64, text: &str, second: &str) -> String {
    match (n - 1) % 3 {
        0 => format!("Olá Flow Chat, você disse: {text}"),
        1 => format!("Passo 2: {text} ({second})"),
        _ => format!("Fim do passo 3, Flow Chat: {text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_as_many_as_messages_both_ways() {
        let rows = |inbound, outbound| Rows { inbound, outbound }.fault(3);
        assert_eq!(rows(3, 3), None);
        assert_eq!(rows(3, 2).as_deref(), Some("3 messages, but 3 rows in and 2 rows out"));
        assert!(rows(4, 3).is_some() && rows(2, 3).is_some());
    }

    #[test]
    fn the_flow_begins_again_after_three_answers() {
        let answers: Vec<_> = (1..=4).map(|n| ring(n, "oi", "7")).collect();
        assert_eq!(answers[1], "Passo 2: oi (7)");
        assert_eq!(answers[0], answers[3]);
    }
}
