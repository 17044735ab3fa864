//! Work that many tenants share a few places for, taken in turns (rulings S19).

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

/// The limits of a [`FairQueue`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FairLimits {
    /// Most items that run at once.
    pub places: usize,
    /// Most items of one key that run at once. A key never has more than half of the places while another key waits.
    pub places_of_one: usize,
    /// Most items that wait.
    pub waiting: usize,
    /// Most items of one key that wait.
    pub waiting_of_one: usize,
}

/// A refused item, and why it was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused<T> {
    /// The key has its part of the items that wait already.
    KeyFull(T),
    /// Too many items wait.
    Full(T),
}

impl<T> Refused<T> {
    /// Returns the item.
    pub fn into_item(self) -> T {
        let (Self::KeyFull(item) | Self::Full(item)) = self;
        item
    }
}

/// A bounded queue of items by key. Keys with waiting items take turns; the items of one key keep their order.
///
/// ```
/// use flowsdk_core::fair_queue::{FairLimits, FairQueue};
///
/// let limits = FairLimits { places: 2, places_of_one: 2, waiting: 10, waiting_of_one: 5 };
/// let mut queue = FairQueue::new(limits);
/// for n in 1..=3 {
///     queue.push("busy", n).unwrap();
/// }
/// queue.push("other", 4).unwrap();
/// assert_eq!((queue.start(), queue.start(), queue.start()), (Some(("busy", 1)), Some(("other", 4)), None));
/// queue.end(&"other");
/// assert_eq!(queue.start(), Some(("busy", 2)));
/// ```
#[derive(Debug)]
pub struct FairQueue<K, T> {
    limits: FairLimits,
    /// The items of each key that has some.
    items: HashMap<K, VecDeque<T>>,
    /// The keys of `items`, the next in front.
    turns: VecDeque<K>,
    waiting: usize,
    /// Of each key that has some, the number of items that run.
    running: HashMap<K, usize>,
    taken: usize,
}

impl<K: Hash + Eq + Clone, T> FairQueue<K, T> {
    /// Creates an empty queue.
    pub fn new(limits: FairLimits) -> Self {
        let (items, running) = (HashMap::new(), HashMap::new());
        Self { limits, items, turns: VecDeque::new(), waiting: 0, running, taken: 0 }
    }

    /// Adds an item behind the others of its key.
    ///
    /// # Errors
    /// The item, if too many wait, in all or of this key.
    pub fn push(&mut self, key: K, item: T) -> Result<(), Refused<T>> {
        let of_key = self.items.get(&key).map_or(0, VecDeque::len);
        if of_key >= self.limits.waiting_of_one {
            return Err(Refused::KeyFull(item));
        }
        if self.waiting >= self.limits.waiting {
            return Err(Refused::Full(item));
        }
        if of_key == 0 {
            self.turns.push_back(key.clone());
        }
        self.items.entry(key).or_default().push_back(item);
        self.waiting += 1;
        Ok(())
    }

    /// Takes the next item that may run now, and a place for it until [`end`](Self::end).
    pub fn start(&mut self) -> Option<(K, T)> {
        if self.taken >= self.limits.places {
            return None;
        }
        let at = self.turns.iter().position(|key| self.may_run(key))?;
        let key = self.turns.remove(at)?;
        let items = self.items.get_mut(&key)?;
        let item = items.pop_front()?;
        if items.is_empty() {
            self.items.remove(&key);
        } else {
            self.turns.push_back(key.clone());
        }
        self.waiting -= 1;
        self.taken += 1;
        *self.running.entry(key.clone()).or_default() += 1;
        Some((key, item))
    }

    /// Gives back the place of an item that [`start`](Self::start) returned.
    pub fn end(&mut self, key: &K) {
        let Some(running) = self.running.get_mut(key) else { return };
        *running -= 1;
        self.taken -= 1;
        if *running == 0 {
            self.running.remove(key);
        }
    }

    /// Removes the waiting items for which `keep` is false.
    pub fn retain(&mut self, mut keep: impl FnMut(&T) -> bool) {
        self.items.retain(|_, items| {
            items.retain(&mut keep);
            !items.is_empty()
        });
        self.turns.retain(|key| self.items.contains_key(key));
        self.waiting = self.items.values().map(VecDeque::len).sum();
    }

    /// Number of items that wait.
    pub fn waiting(&self) -> usize {
        self.waiting
    }

    fn may_run(&self, key: &K) -> bool {
        let running = self.running.get(key).copied().unwrap_or(0);
        let is_alone = self.turns.len() == 1;
        running < self.limits.places_of_one && (is_alone || running < self.limits.places.div_ceil(2))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Debug, Clone)]
    enum Step {
        Push(u8),
        Start,
        End(usize),
        /// Removes the waiting items whose number leaves this rest when it is divided by three.
        Remove(u32),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            4 => (0_u8..4).prop_map(Step::Push),
            4 => Just(Step::Start),
            2 => (0_usize..8).prop_map(Step::End),
            1 => (0_u32..3).prop_map(Step::Remove),
        ];
        prop::collection::vec(step, 0..200)
    }

    proptest! {
        #[test]
        fn limits_hold_and_the_items_of_a_key_keep_their_order(
            steps in steps(), places in 1_usize..6, of_one in 1_usize..6, waiting in 1_usize..20, waits in 1_usize..10,
        ) {
            let limits = FairLimits { places, places_of_one: of_one, waiting, waiting_of_one: waits };
            let mut queue = FairQueue::new(limits);
            let (mut pushed, mut running, mut last) = (0_u32, Vec::new(), HashMap::new());
            for step in steps {
                match step {
                    Step::Push(key) => {
                        pushed += 1;
                        let of_key = queue.items.get(&key).map_or(0, VecDeque::len);
                        let full = queue.waiting() >= waiting || of_key >= waits;
                        prop_assert_eq!(queue.push(key, pushed).is_err(), full);
                    }
                    Step::Start => {
                        let others = queue.turns.clone();
                        match queue.start() {
                            Some((key, item)) => {
                                running.push(key);
                                prop_assert!(last.insert(key, item).is_none_or(|before| before < item));
                                let of_key = running.iter().filter(|one| **one == key).count();
                                let alone = others.len() == 1;
                                prop_assert!(alone || of_key <= places.div_ceil(2), "more than half while another waits");
                            }
                            // A place stays free only if every key that waits has its share.
                            None if running.len() < places => for key in &others {
                                let of_key = running.iter().filter(|one| *one == key).count();
                                let share = if others.len() == 1 { places } else { places.div_ceil(2) };
                                prop_assert!(of_key >= of_one.min(share));
                            },
                            None => {}
                        }
                    }
                    Step::End(at) if !running.is_empty() => {
                        let key = running.swap_remove(at % running.len());
                        queue.end(&key);
                    }
                    Step::End(_) => {}
                    Step::Remove(rest) => {
                        let before: Vec<u32> = queue.items.values().flatten().copied().collect();
                        queue.retain(|item| item % 3 != rest);
                        let kept = before.iter().filter(|item| *item % 3 != rest).count();
                        prop_assert_eq!(queue.waiting(), kept);
                        prop_assert_eq!(queue.turns.len(), queue.items.len());
                    }
                }
                prop_assert!(running.len() <= places);
                for key in &running {
                    prop_assert!(running.iter().filter(|one| *one == key).count() <= of_one);
                }
            }
            prop_assert_eq!(queue.taken, running.len());
        }
    }

    #[test]
    fn a_refusal_says_whose_limit_it_is() {
        let limits = FairLimits { places: 1, places_of_one: 1, waiting: 3, waiting_of_one: 2 };
        let mut queue = FairQueue::new(limits);
        assert_eq!((queue.push("a", 1), queue.push("a", 2)), (Ok(()), Ok(())));
        assert_eq!(queue.push("a", 3), Err(Refused::KeyFull(3)));
        assert_eq!(queue.push("b", 4), Ok(()));
        assert_eq!(queue.push("c", 5), Err(Refused::Full(5)));
        queue.retain(|item| *item != 4);
        assert_eq!(queue.push("c", 5), Ok(()), "nobody waits in that place any more");
    }

    #[test]
    fn a_key_with_much_work_holds_up_nobody() {
        let limits = FairLimits { places: 2, places_of_one: 2, waiting: 1_000, waiting_of_one: 1_000 };
        let mut queue = FairQueue::new(limits);
        for n in 0..100 {
            queue.push("busy", n).expect("room");
        }
        assert_eq!(queue.start(), Some(("busy", 0)));
        assert_eq!(queue.start(), Some(("busy", 1)), "nobody else waits");
        queue.push("other", 1_000).expect("room");
        queue.end(&"busy");
        assert_eq!(queue.start(), Some(("other", 1_000)), "the next place is the other's");
    }
}
