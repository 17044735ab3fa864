//! The result of the login race.

use anyhow::Result;

use super::Run;
use crate::api::{Contender, Options, USERS};
use crate::report::{self, Contender as _, Measured, Table, spread};
use crate::turns::Extent;

impl Measured for Run {
    type Contender = Contender;

    fn contender(&self) -> Contender {
        self.contender
    }

    fn figures(&self) -> String {
        let Run { contender, round, hash_rate, login_rate, pace, .. } = self;
        let Run { calm_p99_ms, read_p50_ms, read_p99_ms, of_hash_rate, of_what_is_left, kept, .. } = self;
        format!(
            "round {round}, {}: {login_rate:.1} logins/s of {hash_rate:.1} hashes/s ({of_hash_rate:.2}, of what is \
             left {of_what_is_left:.2}), reads paced {pace:.0}/s (kept {kept:.2}) p50 {read_p50_ms:.2} p99 {read_p99_ms:.2} ms (calm \
             p99 {calm_p99_ms:.2})",
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
    report::finish(&options.common, "login", &section(options, runs), runs)
}

fn section(options: &Options, runs: &[Run]) -> String {
    let mut text = String::from("## Login storm\n\n");
    let Extent { rounds, seconds, .. } = &options.extent;
    text.push_str(&report::circumstances(&format!(
        "cargo xtask bench login --rounds {rounds} --seconds {seconds}"
    )));
    text.push_str(&format!(
        "\n{USERS} connections log in without a pause, each as a user of its own, while the read of the race above \
         runs at a fifth of\nits rate in a closed loop.{WORK}"
    ));
    let mut table = Table::new(&[
        "",
        "logins/s",
        "bcrypt alone/s",
        "logins / bcrypt",
        "of what is left",
        "login p99, ms",
        "pace of reads/s",
        "of it kept",
        "read p50, ms",
        "read p99, ms",
        "without logins p99, ms",
    ]);
    for who in [Contender::FlowSdk, Contender::FlowSdkPostgres, Contender::Fastify] {
        let of = |value: fn(&Run) -> f64| spread(runs, who, value);
        let Some(rate) = of(|run| run.login_rate) else { continue };
        let cell = |value: fn(&Run) -> f64| report::cell(of(value));
        table.row([
            who.name().to_owned(),
            rate.to_string(),
            cell(|run| run.hash_rate),
            cell(|run| run.of_hash_rate),
            cell(|run| run.of_what_is_left),
            cell(|run| run.login_p99_ms),
            cell(|run| run.pace),
            cell(|run| run.kept),
            cell(|run| run.read_p50_ms),
            cell(|run| run.read_p99_ms),
            cell(|run| run.calm_p99_ms),
        ]);
    }
    text.push_str(&table.to_string());
    text.push_str("\nGoals:\n\n");
    let median = |who, of: fn(&Run) -> f64| spread(runs, who, of).map(|spread| spread.median);
    for who in [Contender::FlowSdk, Contender::FlowSdkPostgres] {
        let part = median(who, |run| run.of_what_is_left);
        let what = format!("{}: logins at least 0.97 of bcrypt alone on what the reads leave", who.name());
        text.push_str(&report::goal(&what, part, |part| part >= 0.97));
        let what = format!("{}: the reads keep at least 0.99 of their pace", who.name());
        text.push_str(&report::goal(&what, median(who, |run| run.kept), |kept| kept >= 0.99));
        let peer = median(Contender::Fastify, |run| run.read_p99_ms);
        let tail = median(who, |run| run.read_p99_ms).zip(peer).map(|(ours, peer)| ours / peer);
        let what = format!("{}: p99 of the reads at most a fifth of the peer's", who.name());
        text.push_str(&report::goal(&what, tail, |ratio| ratio <= 0.2));
    }
    text
}

const WORK: &str = " `bcrypt alone` is the Rust crate comparing one password of cost 8 on the server's core, just before; what
is left of that core is what as many reads without logins do not use. Latency counts from the moment a read was due; who does not keep
the pace has a latency that grows for as long as one measures.

";
