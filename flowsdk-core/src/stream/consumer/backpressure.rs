//! The parties of whose events no more is to be handed in for now.

use std::sync::{Arc, PoisonError, RwLock};

use crate::stream::lanes::Party;

/// The parties that fill half of a consumer's room, until they fill less than a quarter of it (rulings S19). Gateways
/// refuse the events of these parties meanwhile, so that those of the others find room. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Backpressure(Arc<RwLock<Vec<Party>>>);

impl Backpressure {
    /// Returns whether the events of one of these parties are to be refused.
    pub fn is_on(&self, parties: &[Party]) -> bool {
        let on = self.0.read().unwrap_or_else(PoisonError::into_inner);
        parties.iter().any(|party| on.contains(party))
    }

    /// Returns the parties whose events are to be refused: four at most, as each fills a quarter.
    pub fn parties(&self) -> Vec<Party> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Is told that `held` of `capacity` entries are of `party`, which has just handed one in. Returns whether its next
    /// ones are to be refused from now on.
    pub(super) fn handed_in(&self, party: Party, held: usize, capacity: usize) -> bool {
        if held < capacity / 2 || party == Party::NOBODY || self.is_on(&[party]) {
            return false;
        }
        self.0.write().unwrap_or_else(PoisonError::into_inner).push(party);
        true
    }

    /// Lets those hand in again who hold less than a quarter of `capacity`.
    pub(super) fn relieve(&self, capacity: usize, held: impl Fn(Party) -> usize) {
        if !self.parties().is_empty() {
            let mut on = self.0.write().unwrap_or_else(PoisonError::into_inner);
            on.retain(|party| held(*party) >= (capacity / 4).max(1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_party_is_refused_from_half_of_the_room_until_it_holds_less_than_a_quarter() {
        let pressure = Backpressure::default();
        let (crowd, other) = (Party::of("crowd"), Party::of("other"));
        assert!(!pressure.handed_in(crowd, 7, 16));
        assert!(!pressure.is_on(&[crowd, other]));
        assert!(pressure.handed_in(crowd, 8, 16) && !pressure.handed_in(crowd, 9, 16), "it is told once");
        assert!(pressure.is_on(&[other, crowd]) && !pressure.is_on(&[other]));
        pressure.relieve(16, |_| 4);
        assert_eq!(pressure.parties(), [crowd]);
        pressure.relieve(16, |_| 3);
        assert_eq!(pressure.parties(), []);
        assert!(!pressure.handed_in(Party::NOBODY, 16, 16), "events of nobody are not told apart");
    }

    #[test]
    fn a_consumer_of_one_entry_lets_the_next_one_in() {
        let pressure = Backpressure::default();
        assert!(pressure.handed_in(Party::of("a"), 1, 1));
        pressure.relieve(1, |_| 0);
        assert_eq!(pressure.parties(), []);
    }
}
