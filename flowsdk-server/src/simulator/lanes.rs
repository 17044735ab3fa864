//! The order of deliveries: those of one phone with one number come one after the other.

use std::collections::{BTreeMap, VecDeque};

/// A number and a phone. News of the account have neither.
pub(super) type Lane = (String, String);

/// Deliveries that wait for those before them.
#[derive(Debug)]
pub(super) struct Lanes<T> {
    /// A lane is here while somebody delivers what is in it.
    waiting: BTreeMap<Lane, VecDeque<T>>,
}

impl<T> Default for Lanes<T> {
    fn default() -> Self {
        Self { waiting: BTreeMap::new() }
    }
}

impl<T> Lanes<T> {
    /// Puts a delivery at the end of a lane. Returns whether nobody delivers that lane yet: the caller has to.
    pub(super) fn join(&mut self, lane: &Lane, delivery: T) -> bool {
        if let Some(waiting) = self.waiting.get_mut(lane) {
            waiting.push_back(delivery);
            return false;
        }
        self.waiting.insert(lane.clone(), VecDeque::from([delivery]));
        true
    }

    /// Returns the next delivery of a lane. A lane without one is over.
    pub(super) fn next(&mut self, lane: &Lane) -> Option<T> {
        let next = self.waiting.get_mut(lane)?.pop_front();
        if next.is_none() {
            self.waiting.remove(lane);
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lane_has_one_who_delivers_and_ends_when_it_is_empty() {
        let lane = |phone: &str| ("111".to_owned(), phone.to_owned());
        let mut lanes = Lanes::default();
        assert!(lanes.join(&lane("1"), 1) && !lanes.join(&lane("1"), 2) && lanes.join(&lane("2"), 9));
        assert_eq!(lanes.next(&lane("1")), Some(1));
        assert!(!lanes.join(&lane("1"), 3), "the first is still under way");
        assert_eq!((lanes.next(&lane("1")), lanes.next(&lane("1"))), (Some(2), Some(3)));
        assert!(!lanes.join(&lane("1"), 4), "so is the last");
        assert_eq!((lanes.next(&lane("1")), lanes.next(&lane("1"))), (Some(4), None));
        assert_eq!(lanes.waiting.len(), 1);
        assert!(lanes.join(&lane("1"), 5));
    }
}
