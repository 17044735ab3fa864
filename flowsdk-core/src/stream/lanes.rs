//! The lane scheduler: which entry may run now.
//!
//! Each key (a session) has a lane. The entries of a lane run one at a time, in the order offered;
//! lanes run side by side and take turns fairly. The scheduler is synchronous and has no clock of its
//! own, so that its rules can be tested without a runtime.

use std::collections::{BTreeSet, HashMap, VecDeque};

use crate::time::Timestamp;

/// What a lane is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Waiting in the ready queue.
    Ready,
    /// Its front entry was handed out.
    Running,
    /// Its front entry is to be tried again at this moment.
    Postponed(Timestamp),
}

#[derive(Debug)]
struct Lane<T> {
    state: State,
    waiting: VecDeque<T>,
}

/// The scheduler. `T` is an entry.
#[derive(Debug)]
pub struct Lanes<T> {
    lanes: HashMap<String, Lane<T>>,
    ready: VecDeque<String>,
    postponed: BTreeSet<(Timestamp, String)>,
    held: usize,
    capacity: usize,
}

impl<T> Lanes<T> {
    /// A scheduler that holds at most `capacity` entries, running ones included.
    pub fn new(capacity: usize) -> Self {
        Self {
            lanes: HashMap::new(),
            ready: VecDeque::new(),
            postponed: BTreeSet::new(),
            held: 0,
            capacity: capacity.max(1),
        }
    }

    /// Entries held, waiting and running.
    pub fn len(&self) -> usize {
        self.held
    }

    /// Whether it holds nothing.
    pub fn is_empty(&self) -> bool {
        self.held == 0
    }

    /// How many more entries it can hold.
    pub fn room(&self) -> usize {
        self.capacity.saturating_sub(self.held)
    }

    /// Adds an entry at the end of its lane.
    ///
    /// # Errors
    /// Gives the entry back when the scheduler is full. A refused entry must be offered again before
    /// any later one of its key.
    pub fn offer(&mut self, key: &str, entry: T) -> Result<(), T> {
        if self.room() == 0 {
            return Err(entry);
        }
        self.held += 1;
        match self.lanes.get_mut(key) {
            Some(lane) => lane.waiting.push_back(entry),
            None => {
                let lane = Lane { state: State::Ready, waiting: VecDeque::from([entry]) };
                self.lanes.insert(key.to_owned(), lane);
                self.ready.push_back(key.to_owned());
            }
        }
        Ok(())
    }

    /// Hands out the front entries of up to `max` idle lanes, longest waiting first; never two of
    /// one key. Each must be answered by [`Lanes::finished`] or [`Lanes::postpone`].
    pub fn take(&mut self, max: usize) -> Vec<(String, T)> {
        let mut batch = Vec::with_capacity(max.min(self.ready.len()));
        while batch.len() < max {
            let Some(key) = self.ready.pop_front() else { break };
            let Some(lane) = self.lanes.get_mut(&key) else {
                continue;
            };
            let Some(entry) = lane.waiting.pop_front() else {
                continue;
            };
            lane.state = State::Running;
            batch.push((key, entry));
        }
        batch
    }

    /// The running entry of `key` is done; its lane goes on with the next.
    pub fn finished(&mut self, key: &str) {
        let Some(lane) = self.lanes.get_mut(key) else {
            return;
        };
        if lane.state != State::Running {
            return;
        }
        self.held -= 1;
        if lane.waiting.is_empty() {
            self.lanes.remove(key);
        } else {
            lane.state = State::Ready;
            self.ready.push_back(key.to_owned());
        }
    }

    /// The running entry of `key` is to be tried again at `at`; it stays first in its lane, which
    /// waits with it. Other lanes go on.
    pub fn postpone(&mut self, key: &str, entry: T, at: Timestamp) {
        let Some(lane) = self.lanes.get_mut(key) else {
            return;
        };
        if lane.state != State::Running {
            return;
        }
        lane.waiting.push_front(entry);
        lane.state = State::Postponed(at);
        self.postponed.insert((at, key.to_owned()));
    }

    /// Makes ready every lane whose time has come; gives the next moment to call it again.
    pub fn release(&mut self, now: Timestamp) -> Option<Timestamp> {
        while let Some((at, key)) = self.postponed.pop_first() {
            if at > now {
                self.postponed.insert((at, key));
                return Some(at);
            }
            if let Some(lane) = self.lanes.get_mut(&key) {
                lane.state = State::Ready;
                self.ready.push_back(key);
            }
        }
        None
    }

    /// How many entries [`Lanes::take`] could hand out.
    pub fn ready(&self) -> usize {
        self.ready.len()
    }

    /// Drops everything that is not running, when the partition is no longer ours.
    pub fn clear_waiting(&mut self) {
        self.ready.clear();
        self.postponed.clear();
        self.lanes.retain(|_, lane| {
            self.held -= lane.waiting.len();
            lane.waiting.clear();
            lane.state == State::Running
        });
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use proptest::prelude::{Just, Strategy, prop_assert, prop_assert_eq, prop_oneof, proptest};

    use super::*;

    #[derive(Debug, Clone)]
    enum Step {
        Offer(u8),
        Take(usize),
        Finish(usize),
        Postpone(usize, i64),
        Tick(i64),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            4 => (0..6u8).prop_map(Step::Offer),
            3 => (1..4usize).prop_map(Step::Take),
            3 => (0..8usize).prop_map(Step::Finish),
            1 => ((0..8usize), (0..50i64)).prop_map(|(i, d)| Step::Postpone(i, d)),
            1 => (0..30i64).prop_map(Step::Tick),
            1 => Just(Step::Take(100)),
        ];
        proptest::collection::vec(step, 0..200)
    }

    proptest! {
        /// No overlap, order within a key, nothing lost, nobody starved.
        #[test]
        fn any_sequence_keeps_order_and_never_overlaps(steps in steps()) {
            let mut lanes = Lanes::new(40);
            let mut running: Vec<(String, u32)> = Vec::new();
            let mut next_of: HashMap<String, u32> = HashMap::new();
            let mut offered: HashMap<String, u32> = HashMap::new();
            let mut now = 0;
            let handed = |batch: Vec<(String, u32)>,
                              running: &mut Vec<(String, u32)>,
                              next_of: &HashMap<String, u32>|
             -> Result<(), proptest::test_runner::TestCaseError> {
                for (key, number) in batch {
                    prop_assert!(running.iter().all(|(other, _)| *other != key), "{} overlaps", key);
                    prop_assert_eq!(number, next_of.get(&key).copied().unwrap_or(0));
                    running.push((key, number));
                }
                Ok(())
            };
            for step in steps {
                match step {
                    Step::Offer(key) => {
                        let key = format!("s{key}");
                        let number = offered.entry(key.clone()).or_default();
                        if lanes.offer(&key, *number).is_ok() {
                            *number += 1;
                        } else {
                            prop_assert_eq!(lanes.len(), 40);
                        }
                    }
                    Step::Take(max) => handed(lanes.take(max), &mut running, &next_of)?,
                    Step::Finish(index) if index < running.len() => {
                        let (key, number) = running.remove(index);
                        lanes.finished(&key);
                        next_of.insert(key, number + 1);
                    }
                    Step::Postpone(index, delay) if index < running.len() => {
                        let (key, number) = running.remove(index);
                        lanes.postpone(&key, number, Timestamp::from_millis(now + delay));
                    }
                    Step::Finish(_) | Step::Postpone(..) => {}
                    Step::Tick(by) => {
                        now += by;
                        lanes.release(Timestamp::from_millis(now));
                    }
                }
            }
            // Whatever is held comes out when everything runs to its end.
            while !lanes.is_empty() {
                for (key, number) in std::mem::take(&mut running) {
                    lanes.finished(&key);
                    next_of.insert(key, number + 1);
                }
                now += 100;
                prop_assert_eq!(lanes.release(Timestamp::from_millis(now)), None);
                let batch = lanes.take(2);
                prop_assert!(!batch.is_empty() || lanes.is_empty(), "stuck");
                handed(batch, &mut running, &next_of)?;
            }
            for (key, number) in offered {
                prop_assert_eq!(next_of.get(&key).copied().unwrap_or(0), number);
            }
        }
    }

    #[test]
    fn a_busy_lane_does_not_starve_the_others() {
        let mut lanes = Lanes::new(1_000);
        for n in 0..500 {
            lanes.offer("busy", n).expect("room");
        }
        for key in ["a", "b", "c"] {
            lanes.offer(key, 0).expect("room");
        }
        let mut seen = HashSet::new();
        for _ in 0..4 {
            for (key, _) in lanes.take(1) {
                lanes.finished(&key);
                seen.insert(key);
            }
        }
        assert_eq!(seen.len(), 4, "every key ran within one round");
    }

    #[test]
    fn a_postponed_entry_holds_only_its_own_lane() {
        let mut lanes = Lanes::new(10);
        lanes.offer("a", 1).expect("room");
        lanes.offer("a", 2).expect("room");
        lanes.offer("b", 1).expect("room");
        let batch = lanes.take(2);
        assert_eq!(batch.len(), 2);
        lanes.postpone("a", 1, Timestamp::from_millis(10));
        lanes.finished("b");
        lanes.offer("b", 2).expect("room");
        assert_eq!(lanes.release(Timestamp::from_millis(5)), Some(Timestamp::from_millis(10)));
        assert_eq!(lanes.take(9), [("b".to_owned(), 2)]);
        assert_eq!(lanes.release(Timestamp::from_millis(10)), None);
        assert_eq!(lanes.take(9), [("a".to_owned(), 1)]);
    }
}
