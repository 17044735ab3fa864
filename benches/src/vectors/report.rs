//! The result of the race of searches.

use anyhow::Result;
use flowsdk_agent::knowledge::Passage;
use serde::Serialize;

use super::{Cost, LIMIT, Options, Way};
use crate::report::{self, Contender as _, Measured, Table};

/// The goal for the index.
const RECALL: f64 = 0.95;

/// The searches of one way.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Run {
    way: Way,
    p50_ms: f64,
    p99_ms: f64,
    /// Of the nearest five and of all that a search finds.
    recall: Option<[f64; 2]>,
}

impl Run {
    pub(super) fn of(way: Way, mut millis: Vec<f64>) -> Self {
        millis.sort_by(f64::total_cmp);
        let share = |percent: usize| {
            millis
                .get((millis.len() * percent / 100).min(millis.len().saturating_sub(1)))
                .copied()
                .unwrap_or_default()
        };
        Self { way, p50_ms: share(50), p99_ms: share(99), recall: None }
    }

    /// Returns it with the share of the nearest that it found.
    pub(super) fn compared(self, found: &[Vec<Passage>], truth: &[Vec<Passage>]) -> Self {
        Self { recall: Some([5, LIMIT].map(|first| recall(found, truth, first))), ..self }
    }
}

/// Returns the share of the nearest `first` that were found among the first of as many.
fn recall(found: &[Vec<Passage>], truth: &[Vec<Passage>], first: usize) -> f64 {
    let (mut hits, mut all) = (0, 0);
    for (found, truth) in found.iter().zip(truth) {
        for wanted in truth.iter().take(first) {
            let is_same = |passage: &Passage| {
                passage.document_id == wanted.document_id && passage.position == wanted.position
            };
            all += 1;
            hits += u32::from(found.iter().take(first).any(is_same));
        }
    }
    f64::from(hits) / f64::from(all.max(1))
}

impl Measured for Run {
    type Contender = Way;

    fn contender(&self) -> Way {
        self.way
    }

    fn figures(&self) -> String {
        let Self { way, p50_ms, p99_ms, recall } = self;
        format!("{}: {p50_ms:.1} ms, p99 {p99_ms:.1} ms, recall {recall:?}", way.name())
    }

    fn fault(&self) -> Option<&str> {
        None
    }
}

/// Prints the result, and writes it if that is wanted.
///
/// # Errors
/// The file cannot be written.
pub(super) fn finish(options: &Options, runs: &[Run], cost: Cost) -> Result<()> {
    report::finish(&options.common, "vectors", &section(options, runs, cost), runs)
}

fn section(options: &Options, runs: &[Run], cost: Cost) -> String {
    let Options { passages, searches, scans, .. } = options;
    let mut text = format!("## Searches: the nearest of {passages} passages\n\n");
    let command =
        format!("cargo xtask bench vectors --passages {passages} --searches {searches} --scans {scans}");
    text.push_str(&report::circumstances(&command));
    text.push_str(WORK);
    let mut table = Table::new(&["", "recall@5", "recall@10", "p50, ms", "p99, ms"]);
    for run in runs {
        let [five, ten] = run.recall.map_or([None; 2], |recall| recall.map(Some));
        let share = |share: Option<f64>| report::cell(share.map(|share| format!("{share:.3}")));
        let millis = |millis: f64| format!("{millis:.1}");
        table.row([
            run.way.name().to_owned(),
            share(five),
            share(ten),
            millis(run.p50_ms),
            millis(run.p99_ms),
        ]);
    }
    text.push_str(&format!("\n{table}\n"));
    let Cost { copy_seconds, build_seconds, table_bytes, index_bytes, passages_bytes } = cost;
    let mib = |bytes: i64| bytes >> 20;
    text.push_str(&format!(
        "The copies were made in {copy_seconds:.0} s and the index was built in {build_seconds:.0} s, by one process of the server. \
         The passages take {} MiB, the copies {} MiB, the index {} MiB.\n\nGoals:\n\n",
        mib(passages_bytes),
        mib(table_bytes),
        mib(index_bytes)
    ));
    let of_index = runs.iter().find(|run| run.way == Way::Index).and_then(|run| run.recall);
    for (name, at) in [("recall@5", 0), ("recall@10", 1)] {
        let goal = format!("{name} of the index at least {RECALL}");
        text.push_str(&report::goal(&goal, of_index.map(|recall| recall[at]), |recall| recall >= RECALL));
    }
    text
}

const WORK: &str = "
One router, documents of 1,000 passages, vectors of 1,536 numbers. One search after the other, without a model: only the search in the
database is timed, with its texts. The vectors are made up: a hundred a topic, which differ in 96 directions and by a little noise in all
numbers. Of vectors that are random in every number no index finds the nearest; texts have no such vectors. The recall is the share of the
nearest passages that were found, against all comparisons in the database.
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_of_a_hundred_count() {
        let run = Run::of(Way::Index, (0..100).map(f64::from).rev().collect());
        assert_eq!((run.p50_ms, run.p99_ms), (50.0, 99.0));
        assert!(Run::of(Way::Index, Vec::new()).p50_ms < 1.0);
    }

    #[test]
    fn the_recall_is_the_share_of_the_nearest() {
        let found = |positions: [u32; 3]| {
            let passage = |position| Passage {
                document_id: "a".parse().expect("an id"),
                name: String::new(),
                position,
                text: String::new(),
                score: 1.0,
            };
            vec![positions.map(passage).to_vec()]
        };
        assert!((recall(&found([1, 2, 3]), &found([2, 1, 4]), 2) - 1.0).abs() < 1e-9);
        assert!((recall(&found([1, 2, 3]), &found([2, 1, 4]), 3) - 2.0 / 3.0).abs() < 1e-9);
    }
}
