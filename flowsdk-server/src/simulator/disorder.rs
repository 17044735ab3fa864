//! Disorder among deliveries, as the provider may make it: they come again, and not in their order.

use serde::{Deserialize, Serialize};

/// How deliveries come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Disorder {
    /// How often each comes again, at once.
    pub repeats: u8,
    /// So many are held back, and come in another order: at most [`Disorder::MOST_HELD`]. 0 and 1 hold nothing back.
    pub holds: u8,
}

impl Disorder {
    /// Most deliveries that are held back.
    pub const MOST_HELD: u8 = 100;

    /// Returns whether the values are within their bounds.
    pub fn is_bounded(self) -> bool {
        self.holds <= Self::MOST_HELD && self.repeats <= 10
    }
}

/// Deliveries that are held back.
#[derive(Debug)]
pub(super) struct Held<T> {
    waiting: Vec<T>,
    /// What decides the order: the same seed gives the same one.
    state: u64,
}

impl<T: Clone> Held<T> {
    pub(super) fn new(seed: u64) -> Self {
        Self { waiting: Vec::new(), state: seed }
    }

    /// Takes a delivery; returns those that come now, in their order.
    pub(super) fn take(&mut self, disorder: Disorder, delivery: T) -> Vec<T> {
        self.waiting.push(delivery);
        if self.waiting.len() < usize::from(disorder.holds) {
            return Vec::new();
        }
        self.release(disorder)
    }

    /// Lets all go that is held back.
    pub(super) fn release(&mut self, disorder: Disorder) -> Vec<T> {
        let mut coming: Vec<T> = std::mem::take(&mut self.waiting);
        if disorder.holds > 1 {
            // Fisher-Yates.
            for last in (1..coming.len()).rev() {
                let other = self.next() % (last as u64 + 1);
                coming.swap(last, usize::try_from(other).unwrap_or(last));
            }
        }
        let times = 1 + usize::from(disorder.repeats);
        coming.into_iter().flat_map(|one| std::iter::repeat_n(one, times)).collect()
    }

    /// Returns the next number of a linear congruential generator; its upper half, as the lower one repeats soon.
    fn next(&mut self) -> u64 {
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.state >> 33
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deliveries_come_again_and_in_another_order() {
        let mut held = Held::new(7);
        let calm = Disorder::default();
        assert_eq!(held.take(calm, 1), [1]);
        assert_eq!(held.take(Disorder { repeats: 2, holds: 0 }, 1), [1, 1, 1]);
        let mixed = Disorder { repeats: 0, holds: 5 };
        let order = |held: &mut Held<i32>| -> Vec<i32> { (0..5).flat_map(|n| held.take(mixed, n)).collect() };
        let (first, second) = (order(&mut held), order(&mut held));
        for order in [&first, &second] {
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, [0, 1, 2, 3, 4]);
        }
        assert!(first != [0, 1, 2, 3, 4] && first != second, "{first:?} {second:?}");
        let mut again = Held::new(7);
        assert_eq!((order(&mut again), order(&mut again)), (first, second), "the seed decides");
        assert!(held.take(mixed, 9).is_empty());
        assert_eq!(held.release(calm), [9]);
    }
}
