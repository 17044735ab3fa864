//! The result of the webchat race.

use anyhow::Result;

use super::contender::Contender;
use super::{Options, Run};
use crate::report::{self, Measured, Spread, Table, cell};

impl Measured for Run {
    type Contender = Contender;

    fn contender(&self) -> Contender {
        self.contender
    }

    fn figures(&self) -> String {
        let kind = match (self.contender, self.paced) {
            (Contender::RawStorage, _) => "statements".to_owned(),
            (_, Some(rate)) => format!("{} connections, paced {rate:.0}/s", self.connections),
            (_, None) => format!("{} connections", self.connections),
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

/// Prints the result, and writes it if that is wanted.
///
/// # Errors
/// A run lost, doubled or reordered something.
pub(super) fn finish(options: &Options, runs: &[Run]) -> Result<()> {
    report::finish(&options.common, "webchat", &section(options, runs), runs)
}

struct Results<'a>(&'a [Run]);

impl Results<'_> {
    fn spread(&self, who: Contender, connections: usize, paced: bool, of: fn(&Run) -> f64) -> Option<Spread> {
        let wanted = |run: &&Run| {
            run.contender == who
                && (who == Contender::RawStorage || run.connections == connections)
                && run.paced.is_some() == paced
                && run.fault.is_none()
        };
        Spread::of(self.0.iter().filter(wanted).map(of))
    }

    fn rate(&self, who: Contender, connections: usize) -> Option<f64> {
        self.spread(who, connections, false, |run| run.rate).map(|spread| spread.median)
    }

    /// Returns the rate of statements and socket together, one after the other on one core.
    fn raw_rate(&self, connections: usize) -> Option<f64> {
        let (socket, storage) =
            (self.rate(Contender::RawSocket, connections)?, self.rate(Contender::RawStorage, connections)?);
        Some(1.0 / (1.0 / socket + 1.0 / storage))
    }
}

/// Processor time per message.
fn cpu(results: &Results<'_>, who: Contender, connections: usize) -> Option<f64> {
    results.spread(who, connections, false, |run| run.cpu_micros).map(|spread| spread.median)
}

/// Returns the processor time of statements and socket together.
fn raw_cpu(results: &Results<'_>, connections: usize) -> Option<f64> {
    Some(cpu(results, Contender::RawSocket, connections)? + cpu(results, Contender::RawStorage, connections)?)
}

fn section(options: &Options, runs: &[Run]) -> String {
    let results = Results(runs);
    let mut text = String::from("## Web chat: stored round trips\n\n");
    let connections = options.connections.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    text.push_str(&report::circumstances(&format!(
        "cargo xtask bench webchat --rounds {} --seconds {} --connections {connections}{}",
        options.rounds,
        options.seconds,
        if options.acknowledge { " --acknowledge" } else { "" },
    )));
    text.push_str(WORK);
    for &connections in &options.connections {
        text.push_str(&format!(
            "\nClosed loop, {connections} connections, one message under way on each:\n\n"
        ));
        text.push_str(&closed(&results, connections));
    }
    if let Some(&first) = options.connections.first() {
        text.push_str(&format!("\nPaced at half of that rate, {first} connections, latency in ms from the moment a message was due:\n\n"));
        text.push_str(&paced(&results, first));
        text.push_str("\nGoals:\n\n");
        text.push_str(&goals(&results, first));
    }
    text
}

fn closed(results: &Results<'_>, connections: usize) -> String {
    let mut table = Table::new(&["", "messages/s", "server CPU, us/message", "p99, ms", "FlowSDK is"]);
    let ours = results.rate(Contender::FlowSdk, connections);
    let times = |rate: Option<f64>| match (ours, rate) {
        (Some(ours), Some(rate)) => format!("{:.2}x", ours / rate),
        _ => "-".to_owned(),
    };
    for who in Contender::ALL {
        let of = |value: fn(&Run) -> f64| results.spread(who, connections, false, value);
        let Some(rate) = of(|run| run.rate) else { continue };
        let latency = if who == Contender::RawStorage { None } else { of(|run| run.p99_ms) };
        table.row([
            who.name().to_owned(),
            rate.to_string(),
            cell(of(|run| run.cpu_micros)),
            cell(latency),
            times(Some(rate.median)),
        ]);
    }
    if let Some(raw) = results.raw_rate(connections) {
        let name = "raw: both, one after the other".to_owned();
        table.row([name, format!("{raw:.0}"), "-".to_owned(), "-".to_owned(), times(Some(raw))]);
    }
    table.to_string()
}

fn paced(results: &Results<'_>, connections: usize) -> String {
    let mut table =
        Table::new(&["", "messages/s", "p50", "p99", "p999", "server CPU, us/message", "resident, MiB"]);
    for who in Contender::ALL {
        let of = |value: fn(&Run) -> f64| results.spread(who, connections, true, value);
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
    table.to_string()
}

fn goals(results: &Results<'_>, connections: usize) -> String {
    let mut text = String::new();
    for who in [Contender::FlowSdk, Contender::FlowSdkNormal] {
        let ours = results.rate(who, connections);
        let ratio = |peer| Some(ours? / results.rate(peer, connections)?);
        let goal = |what: &str| format!("{}: {what}", who.name());
        let four = report::goal(&goal("at least 4x the rate of Node"), ratio(Contender::Node), |r| r >= 4.0);
        let tuned = &goal("at least 2x the rate of tuned Node");
        let two = report::goal(tuned, ratio(Contender::NodeTuned), |r| r >= 2.0);
        let tail = results.spread(who, connections, true, |run| run.p99_ms).map(|spread| spread.median);
        let p99 = report::goal(&goal("p99 at half load at most 10 ms"), tail, |ms| ms <= 10.0);
        text.extend([four, two, p99]);
    }
    let ours = results.rate(Contender::FlowSdk, connections);
    let cost = results.raw_rate(connections).and_then(|raw| Some(raw / ours?));
    let cost_cpu = cpu(results, Contender::FlowSdk, connections)
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
