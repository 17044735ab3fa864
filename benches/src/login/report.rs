//! The result of the login race.

use anyhow::{Result, bail};
use serde_json::json;

use super::Run;
use crate::api::{Contender, Options, USERS};
use crate::report::{self, Spread, Table};

/// One turn in one line.
pub(super) fn line(run: &Run) -> String {
    let Run { contender, round, hash_rate, login_rate, pace, .. } = run;
    let Run { calm_p99_ms, read_p50_ms, read_p99_ms, of_hash_rate, of_what_is_left, kept, .. } = run;
    let fault = run.fault.as_ref().map_or(String::new(), |fault| format!(" DOES NOT COUNT: {fault}"));
    format!(
        "round {round}, {}: {login_rate:.1} logins/s of {hash_rate:.1} hashes/s ({of_hash_rate:.2}, of what is \
         left {of_what_is_left:.2}), reads paced {pace:.0}/s (kept {kept:.2}) p50 {read_p50_ms:.2} p99 {read_p99_ms:.2} ms (calm \
         p99 {calm_p99_ms:.2}){fault}",
        contender.name()
    )
}

/// Prints the result, and writes it if that is wanted.
///
/// # Errors
/// An answer was missing or wrong.
pub(super) fn finish(options: &Options, runs: &[Run]) -> Result<()> {
    let section = section(options, runs);
    if options.common.json {
        println!("{}", json!({ "race": "login", "runs": runs }));
    } else {
        println!("{section}");
    }
    let faults: Vec<String> = runs.iter().filter(|run| run.fault.is_some()).map(line).collect();
    if !faults.is_empty() {
        bail!("the race does not count:\n{}", faults.join("\n"));
    }
    if options.common.write {
        report::write("login", &section)?;
    }
    Ok(())
}

fn spread(runs: &[Run], who: Contender, of: fn(&Run) -> f64) -> Option<Spread> {
    Spread::of(runs.iter().filter(|run| run.contender == who && run.fault.is_none()).map(of))
}

fn section(options: &Options, runs: &[Run]) -> String {
    let mut text = String::from("## Login storm\n\n");
    let Options { rounds, seconds, .. } = options;
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
        let cell = |value: fn(&Run) -> f64| of(value).map_or("-".to_owned(), |spread| spread.to_string());
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
