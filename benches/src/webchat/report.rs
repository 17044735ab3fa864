//! The result of the webchat race.

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
    report::finish(&options.common, "webchat", &section(options, runs), runs)
}

/// Returns the rate of statements and socket together, one after the other on one core.
fn raw_rate(results: &Results<'_, Contender>, connections: usize) -> Option<f64> {
    let rate = |who| results.rate(who, connections);
    let (socket, storage) = (rate(Contender::RawSocket)?, rate(Contender::RawStorage)?);
    Some(1.0 / (1.0 / socket + 1.0 / storage))
}

/// Returns the processor time of statements and socket together.
fn raw_cpu(results: &Results<'_, Contender>, connections: usize) -> Option<f64> {
    Some(results.cpu(Contender::RawSocket, connections)? + results.cpu(Contender::RawStorage, connections)?)
}

fn section(options: &Options, runs: &[Run]) -> String {
    let results = Results(runs);
    let mut text = String::from("## Web chat: stored round trips\n\n");
    text.push_str(&report::circumstances(&table::command("webchat", &options.extent, &options.crowd)));
    text.push_str(WORK);
    for &connections in &options.crowd.connections {
        text.push_str(&table::closed_loop(connections));
        text.push_str(&closed(&results, connections));
    }
    if let Some(&first) = options.crowd.connections.first() {
        text.push_str(&table::half_rate(first));
        text.push_str(&results.paced(&Contender::ALL, first).to_string());
        text.push_str("\nGoals:\n\n");
        text.push_str(&goals(&results, first));
    }
    text
}

fn closed(results: &Results<'_, Contender>, connections: usize) -> String {
    let mut table = results.closed(&Contender::ALL, Contender::FlowSdk, connections);
    if let Some(raw) = raw_rate(results, connections) {
        let name = "raw: both, one after the other".to_owned();
        let times = table::multiple(results.times(Contender::FlowSdk, connections, Some(raw)));
        table.row([name, format!("{raw:.0}"), "-".to_owned(), "-".to_owned(), times]);
    }
    table.to_string()
}

fn goals(results: &Results<'_, Contender>, connections: usize) -> String {
    let mut text = String::new();
    for who in [Contender::FlowSdk, Contender::FlowSdkNormal] {
        let ratio = |peer| results.times(who, connections, results.rate(peer, connections));
        let goal = |what: &str| format!("{}: {what}", who.name());
        let four = report::goal(&goal("at least 4x the rate of Node"), ratio(Contender::Node), |r| r >= 4.0);
        let tuned = &goal("at least 2x the rate of tuned Node");
        let two = report::goal(tuned, ratio(Contender::NodeTuned), |r| r >= 2.0);
        let tail = results.spread(who, connections, true, |run| run.p99_ms).map(|spread| spread.median);
        let p99 = report::goal(&goal("p99 at half load at most 10 ms"), tail, |ms| ms <= 10.0);
        text.extend([four, two, p99]);
    }
    let ours = results.rate(Contender::FlowSdk, connections);
    let cost = raw_rate(results, connections).and_then(|raw| Some(raw / ours?));
    let cost_cpu = results
        .cpu(Contender::FlowSdk, connections)
        .and_then(|ours| Some(ours / raw_cpu(results, connections)?));
    let processor = "The same in processor time, which other work on the machine disturbs less";
    text.push_str(&report::goal("At most 1.5x the raw cost", cost, |ratio| ratio <= 1.5));
    text.push_str(&report::goal(processor, cost_cpu, |ratio| ratio <= 1.5));
    text
}

const WORK: &str = "
Each message becomes a row, runs one step of a flow of three blocks that answers it with one interpolated text, saves the session,
becomes the row of the answer, goes out, and its status is noted. Ours commits with `synchronous=FULL`, before it answers; the peer
with `NORMAL`, which may lose the last answers when the machine stops. Ours can do so too, by a setting. The peer notes `delivered` once; ours is stored as `sent`, and
`delivered` when the client acknowledged or stayed for five seconds. Ours keeps 12 columns a message with foreign keys and a
unique key against repetitions, the peer 6. Flows of ours cannot count, so where the peer's second answer has a number, ours
repeats a captured variable. The raw cost is ours without us: the same statements in groups of 64 on SQLite alone, and an echo on
the same socket library. Visitors enter with signed tokens, so bcrypt plays no part.
";
