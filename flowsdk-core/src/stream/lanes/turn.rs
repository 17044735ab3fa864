//! The turn of an entry: its class, and how it behaves towards its neighbours in the lane.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::time::Duration;

/// The number of priority classes.
pub const CLASSES: usize = 4;

/// A priority class. Class 0 is the most urgent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Class(u8);

impl Class {
    /// Conversations with people who wait for an answer.
    pub const LIVE: Self = Self(0);
    /// Bulk sends, which nobody waits for.
    pub const CAMPAIGN: Self = Self(1);

    /// Returns the class of that number. Numbers from [`CLASSES`] on mean the last class.
    pub fn new(number: u8) -> Self {
        Self(number.min(CLASSES as u8 - 1))
    }

    pub(super) fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// For whom an entry is handled, such as a tenant. Parties take turns (rulings S19).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Party(u64);

impl Party {
    /// Nobody in particular.
    pub const NOBODY: Self = Self(0);

    /// Returns the party with this id, or with another thing that tells parties apart.
    pub fn of(it: &(impl Hash + ?Sized)) -> Self {
        let mut hasher = DefaultHasher::new();
        it.hash(&mut hasher);
        Self(hasher.finish())
    }
}

/// The same in every process of a build.
impl fmt::Display for Party {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// How an entry takes its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Turn {
    /// Lanes of a lower number run first.
    pub class: Class,
    /// For whom it is. Ready lanes of a class are handed out by parties in turns.
    pub party: Party,
    /// Whether neighbours in the lane may run together with it, as one piece of work ([`Coalesce`]).
    pub joins: bool,
    /// Whether it cancels the running work of its key and overtakes the waiting entries of its key. Entries that
    /// preempt keep their order among themselves, do not cancel each other, and join nothing.
    pub preempts: bool,
}

/// When the waiting entries of a key are taken together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Coalesce {
    /// They are taken once no entry has come for this long.
    pub quiet: Duration,
    /// They are taken at the latest this long after the first of them came.
    pub longest: Duration,
    /// At most so many entries are taken together; at least 1.
    pub most: usize,
}

/// A piece of work: one entry, or several of one key that run together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run<T> {
    /// The turn of the piece. Its class is the most urgent one of its entries.
    pub turn: Turn,
    /// The oldest entry, with which the piece began.
    pub first: T,
    /// The entries that joined it, in order.
    pub rest: Vec<T>,
    /// The work that this piece preempted and that was dropped for it. Its end depends on this piece: when this one
    /// is done, so is the dropped work; when this one fails for good, the dropped work runs after all.
    pub superseded: Option<Box<Run<T>>>,
}

impl<T> Run<T> {
    /// Returns a piece of one entry.
    pub fn of(turn: Turn, entry: T) -> Self {
        Self { turn, first: entry, rest: Vec::new(), superseded: None }
    }

    /// Returns the number of entries, with those of the superseded work.
    pub fn entries(&self) -> usize {
        1 + self.rest.len() + self.superseded.as_ref().map_or(0, |run| run.entries())
    }
}
