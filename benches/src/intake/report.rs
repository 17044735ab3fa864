//! The result of the race of the intake.

use anyhow::Result;

use super::{CONNECTIONS, Contender, Options, PACE};
use crate::report;
use crate::requests::{Figures, Run};
use crate::turns::Extent;

/// Prints the result, and writes it if that is wanted.
///
/// # Errors
/// An answer was missing or wrong, or a message that was answered is not in Redis.
pub(super) fn finish(options: &Options, runs: &[Run<Contender>]) -> Result<()> {
    report::finish(&options.common, "intake", &section(options, runs), runs)
}

fn section(options: &Options, runs: &[Run<Contender>]) -> String {
    let mut text = String::from("## Phone channel: intake of signed deliveries\n\n");
    let Extent { rounds, seconds, .. } = &options.extent;
    text.push_str(&report::circumstances(&format!(
        "cargo xtask bench intake --rounds {rounds} --seconds {seconds}"
    )));
    text.push_str(WORK);
    text.push_str(&format!("\nClosed loop, {CONNECTIONS} connections:\n\n"));
    let mut table = Figures::table(["delivery", "deliveries"], &["times Fastify"]);
    let peer = Figures::of(runs, Contender::Fastify);
    let [ours, _] = [Contender::FlowSdk, Contender::Fastify].map(|who| {
        let figures = Figures::of(runs, who)?;
        let times = figures.times(peer.as_ref());
        table.row(figures.cells(who).into_iter().chain([report::times(times)]));
        times
    });
    text.push_str(&table.to_string());
    text.push_str(&format!("\n{PACE:.0} deliveries a second, each of which a flow answers:\n\n"));
    let mut table = Figures::table(["delivery", "deliveries"], &[]);
    let turns = Figures::of(runs, Contender::FlowSdkTurns);
    if let Some(figures) = &turns {
        table.row(figures.cells(Contender::FlowSdkTurns));
    }
    text.push_str(&table.to_string());
    text.push_str("\nGoals:\n\n");
    text.push_str(&report::goal("At least 2.5x the rate of Fastify", ours, |ratio| ratio >= 2.5));
    let late = turns.map(|figures| figures.p99_ms.median);
    text.push_str(&report::goal("With the turns, p99 below 250 ms", late, |millis| millis < 250.0));
    text
}

const WORK: &str = "
`POST /phone/webhook` with one message, signed over the raw body, until it is in a stream of Redis and answered 200. At the end of each
measurement the server is killed, and every message that was answered has to be in Redis. Ours has the role `phone`. The peer compares the
signature, parses the body and adds an entry for each message, with pipelining. Server on one core; load, PostgreSQL and Redis on the other.
With the turns the server has all roles on a SQLite file; its answers wait, because the number has no token.
";
