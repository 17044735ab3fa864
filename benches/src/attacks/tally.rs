//! Counts of the attacks: how often each was tried, and how it ended.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The counts, shared by all attacks.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally(Arc<Mutex<BTreeMap<String, BTreeMap<String, u64>>>>);

impl Tally {
    /// Counts an `end` of `attack`.
    pub(crate) fn count(&self, attack: &str, end: impl ToString) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *all.entry(attack.to_owned()).or_default().entry(end.to_string()).or_default() += 1;
    }

    /// Returns each attack with its ends and how often each was, in the order of their names.
    pub(crate) fn rows(&self) -> Vec<(String, String)> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let ends = |ends: &BTreeMap<String, u64>| {
            ends.iter().map(|(end, count)| format!("{end} {count}")).collect::<Vec<_>>().join(", ")
        };
        all.iter().map(|(attack, counts)| (attack.clone(), ends(counts))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_counted_by_attack() {
        let tally = Tally::default();
        for (attack, end) in [("b", "200"), ("a", "503"), ("a", "200"), ("a", "503")] {
            tally.count(attack, end);
        }
        let rows = tally.rows();
        let expected = [("a", "200 1, 503 2"), ("b", "200 1")];
        assert_eq!(rows, expected.map(|(attack, ends)| (attack.to_owned(), ends.to_owned())));
    }
}
