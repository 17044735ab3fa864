//! Permissions and router scope (spec A 2.1, 5.3).

mod denied;
mod model;
pub mod rules;
mod scope;

pub use denied::Denied;
pub use model::{Action, Permission, Permissions, Resource};
pub use scope::RouterScope;
