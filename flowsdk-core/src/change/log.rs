//! The port.

use std::fmt;

use super::{Author, Change, Entity};

/// Takes notes of changes. Called after the commit; it never waits and never fails (rulings A11).
pub trait ChangeLog: Send + Sync + fmt::Debug {
    /// Takes a note.
    fn note(&self, author: &Author, entity: Entity<'_>, change: Change);
}

/// Keeps nothing, for embedders without an audit log.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoChangeLog;

impl ChangeLog for NoChangeLog {
    fn note(&self, _author: &Author, _entity: Entity<'_>, _change: Change) {}
}
