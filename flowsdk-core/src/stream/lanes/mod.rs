//! The lane scheduler: it decides which work may run now.
//!
//! Each key (a session) has a lane. The entries of a lane run one piece at a time, in the order offered; lanes run
//! side by side. The scheduler is synchronous and has no clock, so that its rules can be tested without a runtime.
//!
//! - **Pieces.** With [`Coalesce`], neighbours of a lane that [join](Turn::joins) run together once the key is quiet.
//!   A piece that is tried again keeps its members; [`Lanes::split`] takes it apart.
//! - **Classes.** A lane has the most urgent [`Class`] of its waiting entries. A lower class is handed out when no
//!   lane of a higher one is ready, and also once after 16 lanes of higher classes, so that it never starves. The
//!   order within a key does not depend on classes.
//! - **Parties.** Within a class the [parties](Party) with ready lanes take turns.
//! - **Preemption.** An entry that [preempts](Turn::preempts) runs next in its lane, and its offer says whether the
//!   running work is to be cancelled. Cancelled work that is dropped is kept with the entry that preempted it, until
//!   that one ends ([`Run::superseded`]).

mod held;
mod lane;
mod ready;
#[cfg(test)]
mod tests;
mod turn;

use std::collections::{BTreeSet, HashMap};

use crate::time::Timestamp;
use held::Held;
use lane::{Lane, State, Waiting};
use ready::Ready;

pub use turn::{CLASSES, Class, Coalesce, Party, Run, Turn};

/// The result of an offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offered {
    /// The entry waits in its lane.
    Waits,
    /// The same, and the running work of its key is to be cancelled.
    Cancels,
}

/// The scheduler. `T` is an entry.
#[derive(Debug)]
pub struct Lanes<T> {
    lanes: HashMap<String, Lane<T>>,
    ready: Ready,
    /// The lanes in [`State::Until`].
    later: BTreeSet<(Timestamp, String)>,
    held: Held,
    capacity: usize,
    coalesce: Option<Coalesce>,
}

impl<T> Lanes<T> {
    /// Creates a scheduler that holds at most `capacity` entries, running ones included.
    pub fn new(capacity: usize) -> Self {
        Self {
            lanes: HashMap::new(),
            ready: Ready::default(),
            later: BTreeSet::new(),
            held: Held::default(),
            capacity: capacity.max(1),
            coalesce: None,
        }
    }

    /// The same scheduler, with a rule for entries that [join](Turn::joins).
    pub fn coalescing(self, coalesce: Option<Coalesce>) -> Self {
        Self { coalesce, ..self }
    }

    /// Entries held, waiting and running.
    pub fn len(&self) -> usize {
        self.held.all()
    }

    /// Entries held of the lanes of a party. A lane is of the party of its latest entry.
    pub fn held_by(&self, party: Party) -> usize {
        self.held.by(party)
    }

    /// Returns whether no lane holds an entry.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns how many more entries it can hold.
    pub fn room(&self) -> usize {
        self.capacity.saturating_sub(self.len())
    }

    /// Returns how many pieces [`Lanes::take`] could hand out.
    pub fn ready(&self) -> usize {
        self.ready.len()
    }

    /// Adds an entry at the end of its lane; one that preempts, before all that do not.
    ///
    /// # Errors
    /// Returns the entry when the scheduler is full. A refused entry must be offered again before any later one of
    /// its key.
    pub fn offer(&mut self, key: &str, entry: T, turn: Turn, now: Timestamp) -> Result<Offered, T> {
        if self.room() == 0 {
            return Err(entry);
        }
        let piece = Waiting::new(Run::of(turn, entry), now);
        let Some(lane) = self.lanes.get_mut(key) else {
            // The state is a placeholder until the lane is in one of the queues.
            let mut lane = Lane::of(piece, State::Until(now));
            self.held.add(&mut lane, 1);
            self.lanes.insert(key.to_owned(), lane);
            self.enqueue(key);
            return Ok(Offered::Waits);
        };
        lane.push_back(piece);
        self.held.make_of(lane, turn.party);
        self.held.add(lane, 1);
        match lane.state {
            State::Running { entries, may_cancel: true } if turn.preempts => {
                lane.state = State::Running { entries, may_cancel: false };
                return Ok(Offered::Cancels);
            }
            State::Ready(ticket) if turn.class < ticket.class => {
                self.ready.withdraw(ticket);
                lane.state = State::Ready(self.ready.push(key.to_owned(), turn.class, lane.party));
            }
            State::Until(at) if lane.due(self.coalesce) != Some(at) => {
                self.later.remove(&(at, key.to_owned()));
                self.enqueue(key);
            }
            _ => {}
        }
        Ok(Offered::Waits)
    }

    /// Hands out the front pieces of up to `max` idle lanes, by class, then by parties in turns, then longest waiting
    /// first; never two of one key. Each must be answered by one of [`finished`](Self::finished), [`postpone`](Self::postpone),
    /// [`supersede`](Self::supersede), [`revive`](Self::revive), [`split`](Self::split) and [`abandon`](Self::abandon).
    pub fn take(&mut self, max: usize) -> Vec<(String, Run<T>)> {
        self.take_within(max, u64::MAX, |_| 0, |_| true)
    }

    /// Hands out pieces of the parties that `admits` lets pass in the same way, up to the one with which the sum of
    /// their costs reaches `most`. `cost` is that of a party's piece.
    pub fn take_within(
        &mut self,
        max: usize,
        most: u64,
        cost: impl Fn(Party) -> u64,
        admits: impl Fn(Party) -> bool,
    ) -> Vec<(String, Run<T>)> {
        let mut batch = Vec::with_capacity(max.min(self.ready.len()));
        let mut spent = 0_u64;
        while batch.len() < max && (spent < most || batch.is_empty()) {
            let lanes = &self.lanes;
            let holds =
                |key: &str, ticket| lanes.get(key).is_some_and(|lane| lane.state == State::Ready(ticket));
            let Some(key) = self.ready.pop(holds, &admits) else { break };
            let Some(lane) = self.lanes.get_mut(&key) else { continue };
            let Some(run) = lane.take(self.coalesce) else { continue };
            lane.state = State::Running { entries: run.entries(), may_cancel: !run.turn.preempts };
            spent = spent.saturating_add(cost(run.turn.party));
            batch.push((key, run));
        }
        batch
    }

    /// Ends the running piece of `key`, and with it the work that it superseded; its lane goes on with the next.
    pub fn finished(&mut self, key: &str) {
        if self.end(key).is_some() {
            self.enqueue(key);
        }
    }

    /// The running piece of `key` is to be tried again at `at`. It stays first in its lane, which waits with it,
    /// except for entries that preempt. Other lanes go on.
    pub fn postpone(&mut self, key: &str, run: Run<T>, at: Timestamp) {
        self.put_back(key, [run], Some(at));
    }

    /// The running piece of `key` was cancelled and is dropped in favour of the entry that preempted it, which runs
    /// next and holds it until its own end.
    ///
    /// # Errors
    /// Returns the piece when no entry has preempted it; it must be answered in another way.
    pub fn supersede(&mut self, key: &str, run: Run<T>) -> Result<(), Run<T>> {
        let next = self.lanes.get_mut(key).and_then(Lane::next_urgent);
        let Some(next) = next.filter(|next| next.superseded.is_none() && !run.turn.preempts) else {
            return Err(run);
        };
        next.superseded = Some(Box::new(run));
        // The entry that preempted it holds its entries now.
        if self.lanes.get(key).is_some_and(|lane| lane.running().is_some()) {
            self.enqueue(key);
        }
        Ok(())
    }

    /// The running piece of `key` ended without its effect: `run`, which it superseded, comes next after all.
    pub fn revive(&mut self, key: &str, run: Run<T>) {
        self.put_back(key, [run], None);
    }

    /// The running piece of `key` is taken apart: its entries come next, each alone.
    pub fn split(&mut self, key: &str, run: Run<T>) {
        let turn = run.turn;
        let entries = std::iter::once(run.first).chain(run.rest);
        let mut runs: Vec<_> = entries.map(|entry| Run::of(turn, entry)).collect();
        if let Some(first) = runs.first_mut() {
            first.superseded = run.superseded;
        }
        self.put_back(key, runs, None);
    }

    /// Drops the lane of `key` with its running piece, and returns its waiting entries.
    pub fn abandon(&mut self, key: &str) -> Vec<Run<T>> {
        if self.end(key).is_none() {
            return Vec::new();
        }
        self.lanes.remove(key).map(|lane| self.let_go(lane)).unwrap_or_default()
    }

    /// Drops every lane that waits for a moment and whose front entry `is_doomed`; returns their entries.
    pub fn abandon_later(&mut self, mut is_doomed: impl FnMut(&T) -> bool) -> Vec<Run<T>> {
        let mut dropped = Vec::new();
        for (at, key) in std::mem::take(&mut self.later) {
            if !self.lanes.get(&key).is_some_and(|lane| lane.front_is(&mut is_doomed)) {
                self.later.insert((at, key));
            } else if let Some(lane) = self.lanes.remove(&key) {
                dropped.extend(self.let_go(lane));
            }
        }
        dropped
    }

    /// Makes ready every lane whose time has come.
    pub fn release(&mut self, now: Timestamp) {
        while self.next_moment().is_some_and(|at| at <= now)
            && let Some((_, key)) = self.later.pop_first()
        {
            if let Some(lane) = self.lanes.get_mut(&key) {
                lane.state = State::Ready(self.ready.push(key, lane.class(), lane.party));
            }
        }
    }

    /// Returns the moment at which [`Lanes::release`] next makes a lane ready. Every answer to a piece may change it.
    pub fn next_moment(&self) -> Option<Timestamp> {
        self.later.first().map(|(at, _)| *at)
    }

    /// Ends the running piece of `key`, if there is one.
    fn end(&mut self, key: &str) -> Option<()> {
        let lane = self.lanes.get_mut(key)?;
        let entries = lane.running()?;
        self.held.remove(lane, entries);
        Some(())
    }

    fn put_back(
        &mut self,
        key: &str,
        runs: impl IntoIterator<Item = Run<T>, IntoIter: DoubleEndedIterator>,
        at: Option<Timestamp>,
    ) {
        if self.end(key).is_none() {
            return;
        }
        if let Some(lane) = self.lanes.get_mut(key) {
            for run in runs.into_iter().rev() {
                self.held.add(lane, run.entries());
                lane.push_front(Waiting::again(run, at));
            }
        }
        self.enqueue(key);
    }

    fn let_go(&mut self, mut lane: Lane<T>) -> Vec<Run<T>> {
        let entries = lane.held;
        self.held.remove(&mut lane, entries);
        lane.into_runs().collect()
    }

    /// Puts an idle lane, which is in no queue, into its next state.
    fn enqueue(&mut self, key: &str) {
        let Some(lane) = self.lanes.get_mut(key) else { return };
        if lane.is_empty() {
            self.lanes.remove(key);
            return;
        }
        lane.state = match lane.due(self.coalesce) {
            None => State::Ready(self.ready.push(key.to_owned(), lane.class(), lane.party)),
            Some(at) => {
                self.later.insert((at, key.to_owned()));
                State::Until(at)
            }
        };
    }
}
