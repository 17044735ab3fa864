//! The result of the streams race.

use anyhow::Result;

use super::contender::Contender;
use super::{Options, Run};
use crate::report::{self, Contender as _};
use crate::trips::report::{self as table, Results};

/// Prints the result, and writes it if that is wanted.
///
/// # Errors
/// A run lost, doubled or reordered something.
pub(super) fn finish(options: &Options, runs: &[Run]) -> Result<()> {
    report::finish(&options.common, "streams", &section(options, runs), runs)
}

fn section(options: &Options, runs: &[Run]) -> String {
    let results = Results(runs);
    let connections = &options.crowd.connections;
    let mut text = String::from("## Web chat on PostgreSQL and Redis\n\n");
    text.push_str(&report::circumstances(&table::command("streams", &options.extent, &options.crowd)));
    text.push_str(WORK);
    for &connections in connections {
        text.push_str(&table::closed_loop(connections));
        text.push_str(&results.closed(&Contender::ALL, Contender::FlowSdk, connections).to_string());
    }
    if let Some(&first) = connections.first() {
        text.push_str(&table::half_rate(first));
        text.push_str(&results.paced(&Contender::ALL, first).to_string());
    }
    text.push_str("\nGoals:\n\n");
    for &connections in connections {
        text.push_str(&goals(&results, connections));
    }
    text
}

fn goals(results: &Results<'_, Contender>, connections: usize) -> String {
    let mut text = String::new();
    for ours in [Contender::FlowSdk, Contender::FlowSdkTwo] {
        for peer in [Contender::Node, Contender::NodeBatched] {
            let times = results.times(ours, connections, results.rate(peer, connections));
            let cpu =
                results.cpu(ours, connections).and_then(|ours| Some(results.cpu(peer, connections)? / ours));
            let transactions = if peer == Contender::Node { "turn" } else { "batch" };
            let against = format!(
                "{}, {connections} connections: at least 4x Node with a transaction a {transactions}",
                ours.name()
            );
            let rate = format!("{against}, in messages a second");
            text.push_str(&report::goal(&rate, times, |times| times >= 4.0));
            let processor = format!("{against}, in processor time of the server a message");
            text.push_str(&report::goal(&processor, cpu, |times| times >= 4.0));
        }
    }
    text
}

const WORK: &str = "
The round trips of the section on the web chat, with the streams in Redis and the rows in PostgreSQL. All processes under test share
one core. PostgreSQL and Redis share the other one with the load, which may be full before the server's is: **the processor time a
message is the figure that counts here**, and the rate says little where that core is full. Of two processes the sum is given. Two
whole processes have half of the visitors and one of two partitions each, so that half of the answers cross from one to the other.
The peer is one process of Node with Socket.IO, ioredis and pg. It reads 100 entries at once, acknowledges them at once, and either
commits every turn, 16 at a time, or a batch with statements of many rows. Ours commits turns that wait together as well. All use
the same services, which the race starts without `fsync` and without an append-only file, and all answer after the commit. The
peer's statements are prepared, and its ids begin with the time. Its connections have `enable_seqscan = off` as ours that write: a plan
that was kept from when a table was empty would read it whole.
";

#[cfg(test)]
mod tests {
    use super::*;

    fn run(contender: Contender, rate: f64, cpu_micros: f64) -> Run {
        Run {
            contender,
            round: 0,
            connections: 100,
            paced: None,
            rate,
            cpu_micros,
            p50_ms: 1.0,
            p99_ms: 2.0,
            p999_ms: 3.0,
            resident_kib: 1024,
            fault: None,
        }
    }

    #[test]
    fn a_goal_is_held_against_both_peers_in_rate_and_in_processor_time() {
        let runs = [
            run(Contender::FlowSdk, 12_000.0, 60.0),
            run(Contender::Node, 2_000.0, 400.0),
            run(Contender::NodeBatched, 4_000.0, 240.0),
        ];
        let goals = goals(&Results(&runs), 100);
        let said: Vec<&str> = goals.lines().map(|line| line.rsplit(": ").next().unwrap_or("")).collect();
        let unmeasured = "not measured";
        assert_eq!(
            said,
            [
                "6.00, met",
                "6.67, met",
                "3.00, NOT met",
                "4.00, met",
                unmeasured,
                unmeasured,
                unmeasured,
                unmeasured
            ]
        );
    }
}
