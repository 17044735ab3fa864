//! One lane: the entries of one key.

use std::collections::VecDeque;

use super::ready::Ticket;
use super::turn::{CLASSES, Class, Coalesce, Party, Run};
use crate::time::Timestamp;

/// The state of a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// It waits in the queue of its class.
    Ready(Ticket),
    /// Its front piece was handed out.
    Running {
        /// The number of entries handed out.
        entries: usize,
        /// Whether the piece may be cancelled: it does not preempt, and was not cancelled yet.
        may_cancel: bool,
    },
    /// Its front piece waits for this moment.
    Until(Timestamp),
}

/// A piece that waits.
#[derive(Debug)]
pub(super) struct Waiting<T> {
    pub(super) run: Run<T>,
    arrived: Timestamp,
    not_before: Option<Timestamp>,
}

impl<T> Waiting<T> {
    pub(super) fn new(run: Run<T>, arrived: Timestamp) -> Self {
        Self { run, arrived, not_before: None }
    }

    /// Returns a piece that ran before: its members are fixed.
    pub(super) fn again(mut run: Run<T>, not_before: Option<Timestamp>) -> Self {
        run.turn.joins = false;
        Self { run, arrived: Timestamp::default(), not_before }
    }
}

#[derive(Debug)]
pub(super) struct Lane<T> {
    pub(super) state: State,
    /// For whom its entries are: for one party all of them, that of the latest.
    pub(super) party: Party,
    /// How many entries it holds, the running ones included; [`Held`](super::held::Held) keeps it.
    pub(super) held: usize,
    /// Pieces that preempt; they come first.
    urgent: VecDeque<Waiting<T>>,
    waiting: VecDeque<Waiting<T>>,
    /// Waiting pieces of each class.
    classes: [u32; CLASSES],
}

impl<T> Lane<T> {
    /// Returns a lane of one piece.
    pub(super) fn of(piece: Waiting<T>, state: State) -> Self {
        let (party, urgent, waiting) = (piece.run.turn.party, VecDeque::new(), VecDeque::new());
        let mut lane = Self { state, party, held: 0, urgent, waiting, classes: [0; CLASSES] };
        lane.push_back(piece);
        lane
    }

    /// Returns how many entries were handed out, if any were.
    pub(super) fn running(&self) -> Option<usize> {
        match self.state {
            State::Running { entries, .. } => Some(entries),
            State::Ready(_) | State::Until(_) => None,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.urgent.is_empty() && self.waiting.is_empty()
    }

    /// Returns the most urgent class of the waiting entries. It is the class of the whole lane, so that an entry
    /// does not wait for the lower class of an entry before it.
    pub(super) fn class(&self) -> Class {
        let class = self.classes.iter().position(|count| *count > 0).unwrap_or(0);
        Class::new(class as u8)
    }

    fn queue(&mut self, preempts: bool) -> &mut VecDeque<Waiting<T>> {
        if preempts { &mut self.urgent } else { &mut self.waiting }
    }

    pub(super) fn push_back(&mut self, piece: Waiting<T>) {
        self.classes[piece.run.turn.class.index()] += 1;
        self.queue(piece.run.turn.preempts).push_back(piece);
    }

    pub(super) fn push_front(&mut self, piece: Waiting<T>) {
        self.classes[piece.run.turn.class.index()] += 1;
        self.queue(piece.run.turn.preempts).push_front(piece);
    }

    /// Returns the piece that preempts and runs next, if there is one.
    pub(super) fn next_urgent(&mut self) -> Option<&mut Run<T>> {
        self.urgent.front_mut().map(|piece| &mut piece.run)
    }

    /// Takes the front piece, with the entries that join it.
    pub(super) fn take(&mut self, coalesce: Option<Coalesce>) -> Option<Run<T>> {
        let piece = self.urgent.pop_front().or_else(|| self.waiting.pop_front())?;
        let mut run = piece.run;
        self.classes[run.turn.class.index()] -= 1;
        if let Some(coalesce) = coalesce
            && run.turn.joins
            && !run.turn.preempts
        {
            while run.rest.len() + 1 < coalesce.most
                && self.waiting.front().is_some_and(|next| next.run.turn.joins)
                && let Some(next) = self.waiting.pop_front()
            {
                self.classes[next.run.turn.class.index()] -= 1;
                run.turn.class = run.turn.class.min(next.run.turn.class);
                run.rest.push(next.run.first);
            }
        }
        Some(run)
    }

    /// Returns the moment for which the front piece waits; `None` when it may run now.
    pub(super) fn due(&self, coalesce: Option<Coalesce>) -> Option<Timestamp> {
        if let Some(front) = self.urgent.front() {
            return front.not_before;
        }
        let front = self.waiting.front()?;
        let Some(coalesce) = coalesce.filter(|_| front.run.turn.joins) else {
            return front.not_before;
        };
        let joined = self.waiting.iter().take(coalesce.most).take_while(|piece| piece.run.turn.joins);
        let (count, last) = joined.fold((0, front.arrived), |(count, _), piece| (count + 1, piece.arrived));
        // It is full, or it ends before an entry that does not join.
        if count >= coalesce.most || count < self.waiting.len() {
            return None;
        }
        Some((last + coalesce.quiet).min(front.arrived + coalesce.longest))
    }

    /// Returns whether its front piece is one of which `is_doomed` holds.
    pub(super) fn front_is(&self, is_doomed: &mut impl FnMut(&T) -> bool) -> bool {
        let front = self.urgent.front().or_else(|| self.waiting.front());
        front.is_some_and(|piece| is_doomed(&piece.run.first))
    }

    /// Returns everything that waits, in the order in which it would run.
    pub(super) fn into_runs(self) -> impl Iterator<Item = Run<T>> {
        self.urgent.into_iter().chain(self.waiting).map(|piece| piece.run)
    }
}
