//! How use cases tell what they did to an entity, without knowing who keeps the log (spec A 2.7, rulings A11).
//!
//! A service is given an [`Author`] with each command and notes a [`Change`] after its commit. What becomes of it
//! is the business of the [`ChangeLog`]; the one in `flowsdk-auth` writes the audit log.

mod log;
mod model;

pub use log::{ChangeLog, NoChangeLog};
pub use model::{Author, Change, Entity, EntityKind, Recorded};
