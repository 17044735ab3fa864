//! How use cases report their changes to an entity, without knowing the log of them (spec A 2.7, rulings A11).
//!
//! A service receives an [`Author`] with each command and notes a [`Change`] after its commit. The [`ChangeLog`]
//! decides how to keep it; the one in `flowsdk-auth` writes the audit log.

mod log;
mod model;

pub use flowsdk_macros::View;
pub use log::{ChangeLog, NoChangeLog};
pub use model::{Attempt, Author, Change, Entity, EntityKind, Hidden, Recorded, Refused, public_json};
