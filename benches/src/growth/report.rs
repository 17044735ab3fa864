//! The result of the race against growth.

use anyhow::{Context as _, Result};
use serde::Serialize;

use super::{Options, Store};
use crate::report::{self, Contender as _, Measured, Spread, Table};

/// The goal: how many times the time on the small store.
const RATIO: f64 = 1.5;

/// One read, or the turns, on both sizes of a store.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Run {
    store: Store,
    name: &'static str,
    small_ms: Spread,
    large_ms: Spread,
    ratio: f64,
    /// Why it does not count.
    fault: Option<String>,
}

impl Run {
    /// Of the times on the small and on the large store, in milliseconds.
    pub(super) fn of(
        store: Store,
        name: &'static str,
        [small, large]: [Vec<f64>; 2],
        fault: Option<String>,
    ) -> Result<Self> {
        let spread = |millis| Spread::of(millis).context("no round");
        let (small_ms, large_ms) = (spread(small)?, spread(large)?);
        Ok(Self { store, name, small_ms, large_ms, ratio: large_ms.median / small_ms.median, fault })
    }
}

impl Measured for Run {
    type Contender = Store;

    fn contender(&self) -> Store {
        self.store
    }

    fn figures(&self) -> String {
        let Self { store, name, small_ms, large_ms, ratio, .. } = self;
        format!("{}, {name}: {small_ms} ms, {large_ms} ms, {ratio:.2}x", store.name())
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
    report::finish(&options.common, "growth", &section(options, runs), runs)
}

fn section(options: &Options, runs: &[Run]) -> String {
    let Options { small, large, rounds, requests, .. } = options;
    let mut text = String::from("## Growth: the same reads on a small and on a large store\n\n");
    text.push_str(&report::circumstances(&format!(
        "cargo xtask bench growth --small {small} --large {large} --rounds {rounds} --requests {requests}"
    )));
    text.push_str(WORK);
    for store in Store::ALL {
        let own: Vec<&Run> = runs.iter().filter(|run| run.store == store).collect();
        if own.is_empty() {
            continue;
        }
        text.push_str(&format!("\n{}, median (least-greatest):\n\n", store.name()));
        text.push_str(&table(&own, *small, *large).to_string());
    }
    text.push_str("\nGoals:\n\n");
    for store in Store::ALL {
        let worst = runs.iter().filter(|run| run.store == store).map(|run| run.ratio).reduce(f64::max);
        let goal = format!("{}: every row at most {RATIO}x", store.name());
        text.push_str(&report::goal(&goal, worst, |ratio| ratio <= RATIO));
    }
    text
}

fn table(runs: &[&Run], small: u64, large: u64) -> Table {
    let (small, large) = (format!("{small} contacts, ms"), format!("{large} contacts, ms"));
    let mut table = Table::new(&["", &small, &large, "times", "at most 1.5x"]);
    for run in runs {
        let word = if run.ratio <= RATIO { "met" } else { "NOT met" };
        let ratio = format!("{:.2}x", run.ratio);
        table.row([
            run.name.to_owned(),
            run.small_ms.to_string(),
            run.large_ms.to_string(),
            ratio,
            word.to_owned(),
        ]);
    }
    table
}

const WORK: &str = "
Ten messages a contact, one audit record a contact, and six tenants. The shares of words, channels, actors and actions are the same
in both stores, and so is the time from the first row to the last. One request at a time, the stores in turns, after a warm-up. A
page has 20 items. The smallest tenant has one contact of a hundred. A turn is a message of a visitor and its answer over the socket.
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_says_whether_it_grew() {
        let run = |large| {
            Run::of(Store::Sqlite, "a read", [vec![1.0, 2.0, 3.0], vec![large]], None).expect("times")
        };
        let text = |large| table(&[&run(large)], 10, 20).to_string();
        assert!(text(3.0).contains("| 1.50x | met |"), "{}", text(3.0));
        assert!(text(3.1).contains("| 1.55x | NOT met |"), "{}", text(3.1));
        assert!(Run::of(Store::Sqlite, "a read", [vec![], vec![1.0]], None).is_err());
    }
}
