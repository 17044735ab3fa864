//! The report of a soak.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};

use super::check::Verdict;
use super::stage::Outcome;

/// How many violations of an invariant are printed in full.
const EXAMPLES: usize = 3;

/// Returns the number of violations of all invariants.
pub(super) fn violations(verdicts: &[Verdict]) -> u64 {
    verdicts.iter().map(|verdict| verdict.violations).sum()
}

/// Prints a line for each invariant, and the first violations in full.
pub(super) fn print(name: &str, outcome: &Outcome, verdicts: &[Verdict]) {
    let said: usize = outcome.visitors.iter().map(|visitor| visitor.said.len()).sum();
    let seen: usize = outcome.visitors.iter().map(|visitor| visitor.seen.len()).sum();
    let connections: u32 = outcome.visitors.iter().map(|visitor| visitor.connections).sum();
    println!(
        "\n{name}: {} visitors, {connections} connections, {said} messages, {seen} answers seen, {} stored, {} faults",
        outcome.visitors.len(),
        outcome.database.messages.len(),
        outcome.processes.windows.len(),
    );
    println!("| {:<66} | {:>8} | {:>10} |", "invariant", "checked", "violations");
    println!("|{:-<68}|{:->9}:|{:->11}:|", "", "", "");
    for verdict in verdicts {
        println!("| {:<66} | {:>8} | {:>10} |", verdict.invariant, verdict.checked, verdict.violations);
    }
    for verdict in verdicts.iter().filter(|verdict| verdict.violations > 0) {
        println!("\n{}:", verdict.invariant);
        for example in verdict.examples.iter().take(EXAMPLES) {
            println!("  {example}");
        }
    }
}

/// The same as JSON.
pub(super) fn json(name: &str, outcome: &Outcome, verdicts: &[Verdict]) -> Value {
    let first = |verdict: &Verdict| verdict.examples.iter().take(EXAMPLES).cloned().collect::<Vec<_>>();
    json!({
        "setup": name,
        "visitors": outcome.visitors.len(),
        "connections": outcome.visitors.iter().map(|visitor| visitor.connections).sum::<u32>(),
        "messages": outcome.visitors.iter().map(|visitor| visitor.said.len()).sum::<usize>(),
        "seen": outcome.visitors.iter().map(|visitor| visitor.seen.len()).sum::<usize>(),
        "stored": outcome.database.messages.len(),
        "faults": outcome.processes.windows,
        "atTheEnd": outcome.processes.at_the_end,
        "walPeakBytes": outcome.processes.wal_peak_bytes,
        "logBytes": outcome.processes.log_bytes,
        "invariants": verdicts.iter().map(|verdict| json!({
            "invariant": verdict.invariant,
            "checked": verdict.checked,
            "violations": verdict.violations,
            "examples": first(verdict),
        })).collect::<Vec<_>>(),
    })
}

/// Writes all records, for who looks deeper.
pub(super) fn write(folder: &Path, outcome: &Outcome, verdicts: &[Verdict]) -> Result<()> {
    let file = |name: &str| Ok::<_, std::io::Error>(BufWriter::new(File::create(folder.join(name))?));
    serde_json::to_writer_pretty(file("visitors.json")?, &outcome.visitors)?;
    serde_json::to_writer_pretty(file("database.json")?, &outcome.database)?;
    serde_json::to_writer_pretty(file("processes.json")?, &outcome.processes)?;
    serde_json::to_writer_pretty(file("verdicts.json")?, verdicts)?;
    Ok(())
}
