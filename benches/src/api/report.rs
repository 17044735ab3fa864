//! The result of the race of the administrative API.

use anyhow::Result;

use super::{CONNECTIONS, Contender, Options, Run};
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
/// An answer was missing or wrong.
pub(super) fn finish(options: &Options, runs: &[Run]) -> Result<()> {
    report::finish(&options.common, "api", &section(options, runs), runs)
}

fn section(options: &Options, runs: &[Run]) -> String {
    let mut text = String::from("## Administrative API: an authorised read\n\n");
    let Extent { rounds, seconds, .. } = &options.extent;
    text.push_str(&report::circumstances(&format!(
        "cargo xtask bench api --rounds {rounds} --seconds {seconds}"
    )));
    text.push_str(WORK);
    text.push_str(&format!("\nClosed loop, {CONNECTIONS} connections:\n\n"));
    let peer = spread(runs, Contender::Fastify, |run| run.rate).map(|spread| spread.median);
    let times = |rate: f64| peer.map(|peer| rate / peer);
    let mut table = Table::new(&[
        "",
        "requests/s",
        "server CPU, us/request",
        "p50, ms",
        "p99, ms",
        "resident, MiB",
        "times Fastify",
    ]);
    let mut ratios = [None; 2];
    for who in [Contender::FlowSdk, Contender::FlowSdkPostgres, Contender::Fastify] {
        let of = |value: fn(&Run) -> f64| spread(runs, who, value);
        let Some(rate) = of(|run| run.rate) else { continue };
        let cell = |value: fn(&Run) -> f64| report::cell(of(value));
        let ratio = times(rate.median);
        match who {
            Contender::FlowSdk => ratios[0] = ratio,
            Contender::FlowSdkPostgres => ratios[1] = ratio,
            Contender::Fastify => {}
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
    text.push_str("\nGoals:\n\n");
    text.push_str(&report::goal("On SQLite at least 3.5x the rate of Fastify", ratios[0], |r| r >= 3.5));
    text.push_str(&report::goal("On PostgreSQL at least 2x the rate of Fastify", ratios[1], |r| r >= 2.0));
    text
}

const WORK: &str = "
`GET /routers/{id}` as a member of a group with `routers:read`: the token is checked, the member and the permissions of the group are
read again, the scope is applied, the router is answered. Every answer must be the right one, byte for byte. The peer reads the
member and the group in one prepared statement and answers with a constant router, which spares it the read of the router. Server
on one core; load, PostgreSQL and Redis on the other.
";
