//! The tables of races on round trips.

use clap::ValueEnum;

use super::{Contender, Crowd, Run};
use crate::report::{Spread, Table, cell};
use crate::turns::Extent;

/// The runs of a race.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Results<'a, C>(pub(crate) &'a [Run<C>]);

impl<C: Contender> Results<'_, C> {
    /// Returns the figures of the runs that count; those without connections stand beside every number of them.
    pub(crate) fn spread(
        &self,
        who: C,
        connections: usize,
        paced: bool,
        of: fn(&Run<C>) -> f64,
    ) -> Option<Spread> {
        let wanted = |run: &&Run<C>| {
            run.contender == who
                && [0, connections].contains(&run.connections)
                && run.paced.is_some() == paced
                && run.fault.is_none()
        };
        Spread::of(self.0.iter().filter(wanted).map(of))
    }

    /// Messages a second in a closed loop.
    pub(crate) fn rate(&self, who: C, connections: usize) -> Option<f64> {
        self.spread(who, connections, false, |run| run.rate).map(|spread| spread.median)
    }

    /// Processor time a message in a closed loop.
    pub(crate) fn cpu(&self, who: C, connections: usize) -> Option<f64> {
        self.spread(who, connections, false, |run| run.cpu_micros).map(|spread| spread.median)
    }

    /// Returns the rate of `ours` as a multiple of `rate`.
    pub(crate) fn times(&self, ours: C, connections: usize, rate: Option<f64>) -> Option<f64> {
        Some(self.rate(ours, connections)? / rate?)
    }

    /// The closed loop of `field`, with the rate of `ours` as a multiple of each.
    pub(crate) fn closed(&self, field: &[C], ours: C, connections: usize) -> Table {
        let mut table = Table::new(&["", "messages/s", "server CPU, us/message", "p99, ms", "FlowSDK is"]);
        for &who in field {
            let of = |value: fn(&Run<C>) -> f64| self.spread(who, connections, false, value);
            let Some(rate) = of(|run| run.rate) else { continue };
            let alone = self.0.iter().any(|run| run.contender == who && run.connections == 0);
            let latency = if alone { None } else { of(|run| run.p99_ms) };
            let times = self.times(ours, connections, Some(rate.median));
            table.row([
                who.name().to_owned(),
                rate.to_string(),
                cell(of(|run| run.cpu_micros)),
                cell(latency),
                multiple(times),
            ]);
        }
        table
    }

    /// The paced loop of `field`.
    pub(crate) fn paced(&self, field: &[C], connections: usize) -> Table {
        let mut table =
            Table::new(&["", "messages/s", "p50", "p99", "p999", "server CPU, us/message", "resident, MiB"]);
        for &who in field {
            let of = |value: fn(&Run<C>) -> f64| self.spread(who, connections, true, value);
            let Some(rate) = of(|run| run.rate) else { continue };
            table.row([
                who.name().to_owned(),
                rate.to_string(),
                cell(of(|run| run.p50_ms)),
                cell(of(|run| run.p99_ms)),
                cell(of(|run| run.p999_ms)),
                cell(of(|run| run.cpu_micros)),
                cell(of(|run| run.resident_kib as f64 / 1024.0)),
            ]);
        }
        table
    }
}

/// Returns the cell of a ratio.
pub(crate) fn multiple(times: Option<f64>) -> String {
    cell(times.map(|times| format!("{times:.2}x")))
}

/// The headline above a closed loop.
pub(crate) fn closed_loop(connections: usize) -> String {
    format!("\nClosed loop, {connections} connections, one message under way on each:\n\n")
}

/// The headline above the paced loop.
pub(crate) fn half_rate(connections: usize) -> String {
    format!(
        "\nPaced at half of that rate, {connections} connections, latency in ms from the moment a message was due:\n\n"
    )
}

/// The command that repeats the race.
pub(crate) fn command<C: ValueEnum + Copy + Send + Sync>(
    race: &str,
    extent: &Extent<C>,
    crowd: &Crowd,
) -> String {
    let Extent { rounds, seconds, .. } = extent;
    let connections = crowd.connections.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    let acknowledge = if crowd.acknowledge { " --acknowledge" } else { "" };
    format!(
        "cargo xtask bench {race} --rounds {rounds} --seconds {seconds} --connections {connections}{acknowledge}"
    )
}

#[cfg(test)]
mod tests {
    use serde::Serialize;

    use super::*;

    #[derive(Debug, Clone, Copy, PartialEq, Serialize)]
    enum Who {
        Ours,
        Peer,
    }

    impl Contender for Who {}

    impl crate::report::Contender for Who {
        fn name(self) -> &'static str {
            match self {
                Self::Ours => "ours",
                Self::Peer => "peer",
            }
        }
    }

    fn run(contender: Who, connections: usize, rate: f64, fault: Option<&str>) -> Run<Who> {
        Run {
            contender,
            round: 0,
            connections,
            paced: None,
            rate,
            cpu_micros: 1e6 / rate,
            p50_ms: 1.0,
            p99_ms: 2.0,
            p999_ms: 3.0,
            resident_kib: 1024,
            fault: fault.map(str::to_owned),
        }
    }

    #[test]
    fn runs_that_do_not_count_are_in_no_figure() {
        let runs = [
            run(Who::Ours, 100, 4_000.0, None),
            run(Who::Ours, 100, 9_000.0, Some("lost one")),
            run(Who::Ours, 1_000, 3_000.0, None),
            run(Who::Peer, 0, 1_000.0, None),
        ];
        let results = Results(&runs);
        assert_eq!(results.rate(Who::Ours, 100), Some(4_000.0));
        assert_eq!(results.times(Who::Ours, 1_000, results.rate(Who::Peer, 1_000)), Some(3.0));
        let table = results.closed(&[Who::Ours, Who::Peer], Who::Ours, 100).to_string();
        assert!(table.contains("| peer | 1000 (1000-1000) | 1000 (1000-1000) | - | 4.00x |"), "{table}");
        assert_eq!(results.paced(&[Who::Ours], 100).to_string().lines().count(), 2);
    }
}
