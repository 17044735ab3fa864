//! The port.

use std::fmt;

use super::{Author, Change, Entity, Recorded, Refused};

/// Takes notes of changes. Called after the commit; it never waits and never fails (rulings A11).
pub trait ChangeLog: Send + Sync + fmt::Debug {
    /// Takes a note of one change.
    fn note(&self, author: &Author, entity: Entity<'_>, change: Change);

    /// Takes a note of an attempt that was refused.
    fn refused(&self, author: &Author, refused: Refused<'_>);
}

impl dyn ChangeLog {
    /// Notes that something was created.
    pub fn created(&self, author: &Author, it: &impl Recorded) {
        self.note(author, it.entity(), Change::Created(it.to_json()));
    }

    /// Notes that something is not as it was.
    pub fn updated<T: Recorded>(&self, author: &Author, before: &T, after: &T) {
        self.note(author, after.entity(), Change::updated(before, after));
    }

    /// Notes that an entity is deleted.
    pub fn deleted(&self, author: &Author, it: &impl Recorded) {
        self.note(author, it.entity(), Change::Deleted(it.to_json()));
    }
}

/// Keeps nothing, for embedders without an audit log.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoChangeLog;

impl ChangeLog for NoChangeLog {
    fn note(&self, _author: &Author, _entity: Entity<'_>, _change: Change) {}

    fn refused(&self, _author: &Author, _refused: Refused<'_>) {}
}
