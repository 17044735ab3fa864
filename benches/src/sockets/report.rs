//! The result of the sockets race.

use anyhow::Result;

use super::contender::Contender;
use super::{Options, Run};
use crate::report::{self, Contender as _, Measured, Spread, Table, cell, spread};

impl Measured for Run {
    type Contender = Contender;

    fn contender(&self) -> Contender {
        self.contender
    }

    fn figures(&self) -> String {
        let Run { round, sockets, fresh, fresh_seconds, kib_a_socket, rest_percent, dropped_seconds, .. } =
            self;
        let seconds = |value: Option<f64>| cell(value.map(|value| format!("{value:.1} s")));
        format!(
            "round {round}, {}, {sockets} sockets: {fresh} fresh in {fresh_seconds:.1} s, {kib_a_socket:.1} KiB a socket \
             ({} KiB of known visitors), {rest_percent:.2} % of a core at rest, back after a drop {dropped_seconds:.1} s, \
             kill -9 {}, SIGTERM {}, with the limits {}",
            self.contender.name(),
            cell(self.kib_a_socket_of_known.map(|kib| format!("{kib:.1}"))),
            seconds(self.killed_seconds),
            seconds(self.stopped_seconds),
            seconds(self.limited_seconds),
        )
    }

    fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }
}

/// Prints the result, and writes it if that is wanted.
///
/// # Errors
/// A wrong key was let in.
pub(super) fn finish(options: &Options, runs: &[Run]) -> Result<()> {
    report::finish(&options.common, "sockets", &section(options, runs), runs)
}

fn section(options: &Options, runs: &[Run]) -> String {
    let mut text = String::from("## Idle sockets, and all of them back\n\n");
    let Options { rounds, sockets, seconds, .. } = options;
    let fresh = options.fresh.map_or(String::new(), |fresh| format!(" --fresh {fresh}"));
    text.push_str(&report::circumstances(&format!(
        "cargo xtask bench sockets --rounds {rounds} --sockets {sockets}{fresh} --seconds {seconds}"
    )));
    text.push_str(WORK);
    text.push_str(&format!("\n{sockets} sockets:\n\n"));
    text.push_str(&table(runs));
    text.push_str(&said_of_keys(runs));
    text.push_str("\nGoals:\n\n");
    text.push_str(&goals(runs));
    text
}

fn table(runs: &[Run]) -> String {
    let mut table = Table::new(&[
        "",
        "KiB a socket",
        "after `kill -9`",
        "% of a core at rest",
        "new visitors/s",
        "connections dropped, s",
        "`kill -9`, s",
        "SIGTERM, s",
        "SIGTERM, with limits, s",
    ]);
    for who in Contender::ALL {
        let of = |value: fn(&Run) -> f64| spread(runs, who, value);
        let some = |value: fn(&Run) -> Option<f64>| cell(known(runs, who, value));
        let Some(kib) = of(|run| run.kib_a_socket) else { continue };
        let came = if runs.iter().any(|run| run.contender == who && run.fresh > 0) {
            of(|run| run.fresh as f64 / run.fresh_seconds)
        } else {
            None
        };
        table.row([
            who.name().to_owned(),
            kib.to_string(),
            some(|run| run.kib_a_socket_of_known),
            cell(of(|run| run.rest_percent)),
            cell(came),
            cell(of(|run| run.dropped_seconds)),
            some(|run| run.killed_seconds),
            some(|run| run.stopped_seconds),
            some(|run| run.limited_seconds),
        ]);
    }
    table.to_string()
}

/// The figures of those runs of `who` that have them.
fn known(runs: &[Run], who: Contender, of: fn(&Run) -> Option<f64>) -> Option<Spread> {
    Spread::of(runs.iter().filter(|run| run.contender == who && run.fault.is_none()).filter_map(of))
}

fn said_of_keys(runs: &[Run]) -> String {
    let (refused, tried) = wrong_keys(runs);
    let mut text = format!("\nWrong keys: {refused} of {tried} refused.");
    if let Some((let_in, tried)) = runs.iter().find_map(|run| run.limited_visits) {
        text.push_str(&format!(
            " With the limits that the server has by itself, {let_in} of {tried} new visits at once from one address were let in."
        ));
    }
    let ours = runs.iter().filter(|run| run.contender == Contender::FlowSdk && run.fresh > 0);
    if let Some(took) = Spread::of(ours.clone().map(|run| run.fresh_seconds)) {
        let fresh = ours.map(|run| run.fresh).max().unwrap_or_default();
        text.push_str(&format!(" {fresh} new visitors of ours came in within {took} s."));
    }
    text.push('\n');
    text
}

/// Wrong keys that were refused, and that were tried.
fn wrong_keys(runs: &[Run]) -> (usize, usize) {
    runs.iter().fold((0, 0), |sum, run| (sum.0 + run.wrong_keys.0, sum.1 + run.wrong_keys.1))
}

fn goals(runs: &[Run]) -> String {
    let median =
        |of: fn(&Run) -> Option<f64>| known(runs, Contender::FlowSdk, of).map(|spread| spread.median);
    let mut text = String::new();
    let small = |kib: f64| kib <= 15.0;
    text.push_str(&report::goal("At most 15 KiB a socket", median(|run| Some(run.kib_a_socket)), small));
    let returns = [
        ("their connections were dropped", median(|run| Some(run.dropped_seconds))),
        ("`kill -9` and a restart", median(|run| run.killed_seconds)),
        ("SIGTERM and a restart", median(|run| run.stopped_seconds)),
        ("SIGTERM and a restart with the limits", median(|run| run.limited_seconds)),
    ];
    for (after, took) in returns {
        let goal = format!("All back with their keys at most 10 s after {after}");
        text.push_str(&report::goal(&goal, took, |seconds| seconds <= 10.0));
    }
    let (refused, tried) = wrong_keys(runs);
    let let_in = (tried > 0).then(|| (tried - refused) as f64);
    text.push_str(&report::goal("Wrong keys let in: none", let_in, |count| count == 0.0));
    text
}

const WORK: &str = "
Visitors of an open channel sit there and answer heartbeats; each has a session key of their own. A new visitor costs a bcrypt of
cost 10, which bounds how many come in a second. One who comes back is checked by a digest of the key. Memory is that of the
server's process at rest, less that of the same process before anybody came; the kernel's buffers are not in it. Clients come back
at once, 128 at a time. Times begin with the drop, the kill or the signal, and have the restart in them. After each return ten
visitors try a wrong key. The limits on visitors are off, since all have one address, but for one restart. Keys with a digest count
against none of them; new visits do. The peer is Socket.IO alone, which knows no keys and stores nobody.
";

#[cfg(test)]
mod tests {
    use super::*;

    fn run(contender: Contender, fault: Option<&str>) -> Run {
        let ours = |value: f64| (contender == Contender::FlowSdk).then_some(value);
        Run {
            contender,
            round: 0,
            sockets: 100,
            fresh: 50,
            fresh_seconds: 2.0,
            kib_a_socket: 14.0,
            kib_a_socket_of_known: ours(13.0),
            rest_percent: 0.5,
            dropped_seconds: 3.0,
            killed_seconds: ours(11.0),
            stopped_seconds: ours(4.0),
            limited_seconds: ours(5.0),
            limited_visits: ours(0.0).map(|_| (60, 80)),
            wrong_keys: (9, 10),
            fault: fault.map(str::to_owned),
        }
    }

    #[test]
    fn each_goal_is_held_against_our_figures() {
        let goals = goals(&[run(Contender::Node, None), run(Contender::FlowSdk, None)]);
        let said: Vec<&str> = goals.lines().filter_map(|line| line.rsplit(": ").next()).collect();
        let expected =
            ["14.00, met", "3.00, met", "11.00, NOT met", "4.00, met", "5.00, met", "2.00, NOT met"];
        assert_eq!(said, expected);
    }

    #[test]
    fn a_peer_without_keys_has_empty_cells_and_a_fault_none() {
        let table = table(&[run(Contender::Node, None), run(Contender::FlowSdk, Some("let in"))]);
        assert!(table.contains("| 25.0 (25.0-25.0) | 3.00 (3.00-3.00) | - | - | - |"), "{table}");
        assert!(!table.contains("FlowSDK"), "{table}");
    }
}
