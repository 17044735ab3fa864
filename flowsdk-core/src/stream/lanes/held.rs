//! How many entries are held, and of whom.

use std::collections::HashMap;

use super::lane::Lane;
use super::turn::Party;

/// The entries held, waiting and running. Those of a lane are of its party.
#[derive(Debug, Default)]
pub(super) struct Held {
    all: usize,
    by_party: HashMap<Party, usize>,
}

impl Held {
    pub(super) fn all(&self) -> usize {
        self.all
    }

    pub(super) fn by(&self, party: Party) -> usize {
        self.by_party.get(&party).copied().unwrap_or(0)
    }

    pub(super) fn add<T>(&mut self, lane: &mut Lane<T>, entries: usize) {
        lane.held += entries;
        self.all += entries;
        *self.by_party.entry(lane.party).or_default() += entries;
    }

    pub(super) fn remove<T>(&mut self, lane: &mut Lane<T>, entries: usize) {
        lane.held -= entries;
        self.all -= entries;
        if let Some(held) = self.by_party.get_mut(&lane.party) {
            *held -= entries;
            if *held == 0 {
                self.by_party.remove(&lane.party);
            }
        }
    }

    /// Counts all entries of a lane as those of `party`. A lane that is never empty would be of the first one for ever.
    pub(super) fn make_of<T>(&mut self, lane: &mut Lane<T>, party: Party) {
        if lane.party != party && party != Party::NOBODY {
            let entries = lane.held;
            self.remove(lane, entries);
            lane.party = party;
            self.add(lane, entries);
        }
    }
}
