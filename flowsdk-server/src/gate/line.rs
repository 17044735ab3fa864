//! Whose turn it is.

use std::collections::{HashMap, VecDeque};

use super::{Key, Refusal};

/// A place in the line that can be given up.
pub(super) trait Waiter {
    /// Returns whether nobody waits there any more.
    fn is_gone(&self) -> bool;
}

impl<T> Waiter for tokio::sync::oneshot::Sender<T> {
    fn is_gone(&self) -> bool {
        self.is_closed()
    }
}

/// The answer to one who asks for a place.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Entry {
    Free,
    Waits,
    Refused(Refusal),
}

/// The callers at work and those that wait, by key, in the order of their turns.
#[derive(Debug)]
pub(super) struct Line<W> {
    places: usize,
    waiting: usize,
    busy: HashMap<Key, usize>,
    turns: VecDeque<(Key, VecDeque<W>)>,
}

impl<W: Waiter> Line<W> {
    pub(super) fn new(places: usize, waiting: usize) -> Self {
        Self { places: places.max(1), waiting, busy: HashMap::new(), turns: VecDeque::new() }
    }

    pub(super) fn enter(&mut self, key: Key, waiter: W) -> Entry {
        self.forget_gone();
        if self.turns.is_empty() && self.busy.values().sum::<usize>() < self.places {
            *self.busy.entry(key).or_default() += 1;
            return Entry::Free;
        }
        let waiting: usize = self.turns.iter().map(|(_, waiters)| waiters.len()).sum();
        let at = self.turns.iter().position(|(known, _)| *known == key);
        if at.is_some_and(|at| self.turns[at].1.len() >= self.waiting.div_ceil(2)) {
            return Entry::Refused(Refusal::Greedy);
        }
        if waiting >= self.waiting {
            return Entry::Refused(Refusal::Busy);
        }
        match at {
            Some(at) => self.turns[at].1.push_back(waiter),
            None => self.turns.push_back((key, VecDeque::from([waiter]))),
        }
        Entry::Waits
    }

    /// One of `key` is done; returns whose turn it is, who is at work from now on.
    pub(super) fn leave(&mut self, key: Key) -> Option<(Key, W)> {
        if let Some(count) = self.busy.get_mut(&key) {
            *count -= 1;
            if *count == 0 {
                self.busy.remove(&key);
            }
        }
        self.forget_gone();
        // The one with the fewest places, and of several the one that has waited for its turn for the longest.
        let load = |(at, (key, _)): &(usize, &(Key, _))| (self.busy.get(key).copied().unwrap_or(0), *at);
        let (at, _) = self.turns.iter().enumerate().min_by_key(load)?;
        let (key, mut waiters) = self.turns.remove(at)?;
        let waiter = waiters.pop_front()?;
        if !waiters.is_empty() {
            self.turns.push_back((key, waiters));
        }
        *self.busy.entry(key).or_default() += 1;
        Some((key, waiter))
    }

    fn forget_gone(&mut self) {
        for (_, waiters) in &mut self.turns {
            waiters.retain(|waiter| !waiter.is_gone());
        }
        self.turns.retain(|(_, waiters)| !waiters.is_empty());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Waiter for &str {
        fn is_gone(&self) -> bool {
            self.starts_with("gone")
        }
    }

    const A: Key = Key(1);
    const B: Key = Key(2);
    const C: Key = Key(3);

    #[test]
    fn keys_take_turns_however_many_wait_of_each() {
        let mut line = Line::new(2, 100);
        assert_eq!((line.enter(A, "a1"), line.enter(B, "b1")), (Entry::Free, Entry::Free));
        for waiter in ["a2", "a3", "a4"] {
            assert_eq!(line.enter(A, waiter), Entry::Waits);
        }
        for (key, waiter) in [(B, "b2"), (B, "gone"), (B, "b3"), (C, "c1")] {
            assert_eq!(line.enter(key, waiter), Entry::Waits);
        }
        let mut next = |key| line.leave(key).map(|(_, waiter)| waiter);
        // Of A and C, who have nothing at work, A came first; then it is C's turn.
        let order = [(A, "a2"), (A, "c1"), (B, "b2"), (C, "a3"), (A, "a4"), (A, "b3")];
        for (done, waiter) in order {
            assert_eq!(next(done), Some(waiter));
        }
        assert_eq!((next(B), next(B)), (None, None));
        assert_eq!((line.enter(C, "c2"), line.enter(C, "c3")), (Entry::Free, Entry::Free));
    }

    #[test]
    fn only_so_many_wait_and_half_of_them_of_one_key() {
        let mut line = Line::new(1, 4);
        assert_eq!(line.enter(A, "a1"), Entry::Free);
        assert_eq!((line.enter(A, "a2"), line.enter(A, "a3")), (Entry::Waits, Entry::Waits));
        assert_eq!(line.enter(A, "a4"), Entry::Refused(Refusal::Greedy));
        assert_eq!((line.enter(B, "b1"), line.enter(B, "gone")), (Entry::Waits, Entry::Waits));
        assert_eq!(line.enter(B, "b2"), Entry::Waits, "nobody waits in that place any more");
        assert_eq!(line.enter(C, "c1"), Entry::Refused(Refusal::Busy));
    }
}
