//! The cost of the parties' pieces of work, so that a batch stays short.

use std::collections::HashMap;
use std::time::Duration;

use crate::stream::lanes::Party;

/// A piece of less is not counted: a batch of many such pieces is short.
const NEGLIGIBLE: u64 = 100_000;

/// The cost of a party's next piece, as its latest ones let expect it. Parties with cheap pieces have no entry.
#[derive(Debug, Default)]
pub(super) struct Costs(HashMap<Party, u64>);

impl Costs {
    /// Notes the cost of a piece. After dear ones it takes many cheap ones until a party counts as cheap, so that
    /// nobody passes dear pieces off as cheap.
    pub(super) fn note(&mut self, party: Party, cost: Duration) {
        let cost = u64::try_from(cost.as_nanos()).unwrap_or(u64::MAX);
        let before = self.0.get(&party).copied().unwrap_or(0);
        let expected = cost.max(before - before / 8);
        if expected < NEGLIGIBLE {
            self.0.remove(&party);
        } else {
            self.0.insert(party, expected);
        }
    }

    /// Returns whether every party is cheap.
    pub(super) fn are_negligible(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the expected cost of a party's next piece, in nanoseconds.
    pub(super) fn expected(&self, party: Party) -> u64 {
        self.0.get(&party).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dear_piece_is_forgotten_slowly_and_then_wholly() {
        let mut costs = Costs::default();
        let party = Party::of("a");
        costs.note(party, Duration::from_micros(50));
        assert_eq!((costs.expected(party), costs.0.len()), (0, 0));
        costs.note(party, Duration::from_millis(8));
        costs.note(party, Duration::from_micros(50));
        assert_eq!(costs.expected(party), 7_000_000);
        costs.note(party, Duration::from_millis(40));
        assert_eq!(costs.expected(party), 40_000_000);
        for _ in 0..60 {
            costs.note(party, Duration::ZERO);
        }
        assert_eq!(costs.0.len(), 0, "no memory is held for a party that is cheap");
    }
}
