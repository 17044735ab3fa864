//! The result of the race of the administrative API.

use anyhow::Result;

use super::{CONNECTIONS, Contender, Options};
use crate::report;
use crate::requests::{Figures, Run};
use crate::turns::Extent;

/// Prints the result, and writes it if that is wanted.
///
/// # Errors
/// An answer was missing or wrong.
pub(super) fn finish(options: &Options, runs: &[Run<Contender>]) -> Result<()> {
    report::finish(&options.common, "api", &section(options, runs), runs)
}

fn section(options: &Options, runs: &[Run<Contender>]) -> String {
    let mut text = String::from("## Administrative API: an authorised read\n\n");
    let Extent { rounds, seconds, .. } = &options.extent;
    text.push_str(&report::circumstances(&format!(
        "cargo xtask bench api --rounds {rounds} --seconds {seconds}"
    )));
    text.push_str(WORK);
    text.push_str(&format!("\nClosed loop, {CONNECTIONS} connections:\n\n"));
    let mut table = Figures::table(["request", "requests"], &["times Fastify"]);
    let peer = Figures::of(runs, Contender::Fastify);
    let [sqlite, postgres, _] =
        [Contender::FlowSdk, Contender::FlowSdkPostgres, Contender::Fastify].map(|who| {
            let figures = Figures::of(runs, who)?;
            let times = figures.times(peer.as_ref());
            table.row(figures.cells(who).into_iter().chain([report::times(times)]));
            times
        });
    text.push_str(&table.to_string());
    text.push_str("\nGoals:\n\n");
    text.push_str(&report::goal("On SQLite at least 3.5x the rate of Fastify", sqlite, |r| r >= 3.5));
    text.push_str(&report::goal("On PostgreSQL at least 2x the rate of Fastify", postgres, |r| r >= 2.0));
    text
}

const WORK: &str = "
`GET /routers/{id}` as a member of a group with `routers:read`: the token is checked, the member and the permissions of the group are
read again, the scope is applied, the router is answered. Every answer must be the right one, byte for byte. The peer reads the
member and the group in one prepared statement and answers with a constant router, which spares it the read of the router. Server
on one core; load, PostgreSQL and Redis on the other.
";
