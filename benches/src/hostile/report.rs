//! The result of a trial.

use anyhow::{Result, bail};
use serde_json::json;

use super::{Options, Results};
use crate::attacks::definitions::KINDS;
use crate::load::Outcome;
use crate::report::{self, Table};

/// How many times its undisturbed value the p99 of the visitors may be.
const RATIO: f64 = 10.0;

/// Prints the result, and writes it if that is wanted.
///
/// # Errors
/// A goal was not met.
pub(super) fn finish(options: &Options, results: &Results) -> Result<()> {
    let faults = faults(results);
    if options.common.json {
        println!("{}", summary(options, results));
    } else {
        println!("{}", section(options, results));
    }
    if !faults.is_empty() {
        bail!("{}", faults.join("\n"));
    }
    if options.common.write {
        report::write(&name(options), &section(options, results))?;
    }
    Ok(())
}

fn name(options: &Options) -> String {
    let set_up = if options.production { "production" } else { "embedded" };
    format!("hostile {} {set_up}", options.party.name())
}

fn ratio(results: &Results) -> f64 {
    results.attacked.latency(0.99) / results.calm.latency(0.99)
}

/// Every goal that was not met.
fn faults(results: &Results) -> Vec<String> {
    let mut faults = Vec::new();
    for (phase, outcome) in [("undisturbed", &results.calm), ("attacked", &results.attacked)] {
        faults.extend(outcome.fault().map(|fault| format!("{phase}: {fault}")));
    }
    if results.frozen > 0 {
        faults.push(format!("{} sessions of the other tenant froze", results.frozen));
    }
    if ratio(results) >= RATIO {
        faults.push(format!("p99 of the visitors grew {:.1} times", ratio(results)));
    }
    if results.watched.unanswered > 0 {
        faults.push(format!("/healthz was not answered {} times", results.watched.unanswered));
    }
    faults
}

/// The p99 of the messages before whose answer the flow does each of [`KINDS`].
fn by_kind(outcome: &Outcome) -> Vec<f64> {
    outcome.latency_by_kind(KINDS.len() as u32, 0.99)
}

/// The p99 of each fifth of the time: what grows shows.
fn by_fifth(outcome: &Outcome) -> Vec<f64> {
    outcome.latency_by_part(5, 0.99)
}

fn summary(options: &Options, results: &Results) -> serde_json::Value {
    let figures = |outcome: &Outcome| {
        json!({ "messages": outcome.answered, "p50Ms": outcome.latency(0.5), "p99Ms": outcome.latency(0.99),
            "maxMs": outcome.latency(1.0), "p99MsByKind": by_kind(outcome),
            "p99MsByFifth": by_fifth(outcome), "fault": outcome.fault() })
    };
    json!({ "trial": name(options), "minutes": options.minutes, "undisturbed": figures(&results.calm),
        "attacked": figures(&results.attacked), "p99Ratio": ratio(results), "frozen": results.frozen,
        "residentBeforeKib": results.watched.resident_before, "residentPeakKib": results.watched.resident_peak,
        "longestHealthMs": results.watched.longest.as_secs_f64() * 1e3,
        "unansweredHealth": results.watched.unanswered, "attacks": results.tally.rows() })
}

fn list(values: &[f64]) -> String {
    values.iter().map(|value| format!("{value:.1}")).collect::<Vec<_>>().join(", ")
}

fn section(options: &Options, results: &Results) -> String {
    let production = if options.production { " --production" } else { "" };
    let command = format!(
        "cargo xtask bench hostile {} --minutes {}{production}",
        options.party.name(),
        options.minutes
    );
    let mut figures = Table::new(&[
        "visitors of the other tenant",
        "messages",
        "p50 ms",
        "p99 ms",
        "longest ms",
        &format!("p99 ms after {}", KINDS.join(", ")),
        "p99 ms of each fifth of the time",
    ]);
    for (phase, outcome) in [("undisturbed", &results.calm), ("attacked", &results.attacked)] {
        let latency = |quantile| format!("{:.1}", outcome.latency(quantile));
        figures.row([
            phase.to_owned(),
            outcome.answered.to_string(),
            latency(0.5),
            latency(0.99),
            latency(1.0),
            list(&by_kind(outcome)),
            list(&by_fifth(outcome)),
        ]);
    }
    let mut attacks = Table::new(&["attack", "ends"]);
    for (attack, ends) in results.tally.rows() {
        attacks.row([attack, ends]);
    }
    let watched = &results.watched;
    let mib = |kib: u64| kib as f64 / 1_024.0;
    let mut text = format!("## {}\n\n", name(options));
    text.push_str(&report::circumstances(&command));
    text.push_str(&format!("\n{figures}\n{attacks}\n"));
    text.push_str(&report::goal(
        &format!("p99 under {RATIO} times its undisturbed value"),
        Some(ratio(results)),
        |value| value < RATIO,
    ));
    text.push_str(&report::goal("sessions that froze", Some(results.frozen as f64), |value| value == 0.0));
    text.push_str(&format!(
        "- Resident memory: {:.0} MiB before, at most {:.0} MiB, of {} MiB of address space. Longest answer of \
         `/healthz`: {:.0} ms.\n",
        mib(watched.resident_before),
        mib(watched.resident_peak),
        options.memory,
        watched.longest.as_secs_f64() * 1e3
    ));
    text
}
