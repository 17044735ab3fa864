//! The result of the race of the intake.

use anyhow::Result;

use super::{CONNECTIONS, Contender, Options, PACE, Run};
use crate::report::{self, Measured, Table, spread};
use crate::turns::Extent;

impl Measured for Run {
    type Contender = Contender;

    fn contender(&self) -> Contender {
        self.contender
    }

    fn figures(&self) -> String {
        let Run { contender, round, rate, cpu_micros, p50_ms, p99_ms, .. } = self;
        format!(
            "round {round}, {}: {rate:.0}/s, {cpu_micros:.1} us CPU, p50 {p50_ms:.2} p99 {p99_ms:.2} ms",
            contender.name()
        )
    }

    fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }
}

/// Prints the result, and writes it if that is wanted.
///
/// # Errors
/// An answer was missing or wrong, or a message that was answered is not in Redis.
pub(super) fn finish(options: &Options, runs: &[Run]) -> Result<()> {
    report::finish(&options.common, "intake", &section(options, runs), runs)
}

fn section(options: &Options, runs: &[Run]) -> String {
    let mut text = String::from("## Phone channel: intake of signed deliveries\n\n");
    let Extent { rounds, seconds, .. } = &options.extent;
    text.push_str(&report::circumstances(&format!(
        "cargo xtask bench intake --rounds {rounds} --seconds {seconds}"
    )));
    text.push_str(WORK);
    text.push_str(&format!("\nClosed loop, {CONNECTIONS} connections:\n\n"));
    let peer = spread(runs, Contender::Fastify, |run| run.rate).map(|spread| spread.median);
    let columns = [
        "",
        "deliveries/s",
        "server CPU, us/delivery",
        "p50, ms",
        "p99, ms",
        "resident, MiB",
        "times Fastify",
    ];
    let (mut table, mut ours) = (Table::new(&columns), None);
    for who in [Contender::FlowSdk, Contender::Fastify] {
        let of = |value: fn(&Run) -> f64| spread(runs, who, value);
        let Some(rate) = of(|run| run.rate) else { continue };
        let cell = |value: fn(&Run) -> f64| report::cell(of(value));
        let ratio = peer.map(|peer| rate.median / peer);
        if who == Contender::FlowSdk {
            ours = ratio;
        }
        table.row([
            who.name().to_owned(),
            rate.to_string(),
            cell(|run| run.cpu_micros),
            cell(|run| run.p50_ms),
            cell(|run| run.p99_ms),
            cell(|run| run.resident_kib as f64 / 1024.0),
            ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.2}x")),
        ]);
    }
    text.push_str(&table.to_string());
    text.push_str(&format!("\n{PACE:.0} deliveries a second, each of which a flow answers:\n\n"));
    let who = Contender::FlowSdkTurns;
    let cell = |value: fn(&Run) -> f64| report::cell(spread(runs, who, value));
    let mut table = Table::new(&["", "deliveries/s", "server CPU, us/delivery", "p50, ms", "p99, ms"]);
    table.row([
        who.name().to_owned(),
        cell(|run| run.rate),
        cell(|run| run.cpu_micros),
        cell(|run| run.p50_ms),
        cell(|run| run.p99_ms),
    ]);
    text.push_str(&table.to_string());
    text.push_str("\nGoals:\n\n");
    text.push_str(&report::goal("At least 2.5x the rate of Fastify", ours, |ratio| ratio >= 2.5));
    let late = spread(runs, who, |run| run.p99_ms).map(|spread| spread.median);
    text.push_str(&report::goal("With the turns, p99 below 250 ms", late, |millis| millis < 250.0));
    text
}

const WORK: &str = "
`POST /phone/webhook` with one message, signed over the raw body, until it is in a stream of Redis and answered 200. At the end of each
measurement the server is killed, and every message that was answered has to be in Redis. Ours has the role `phone`. The peer compares the
signature, parses the body and adds an entry for each message, with pipelining. Server on one core; load, PostgreSQL and Redis on the other.
With the turns the server has all roles on a SQLite file; its answers wait, because the number has no token.
";
