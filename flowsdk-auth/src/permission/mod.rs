//! Permissions and router scope (spec A 2.1, 5.3).

mod model;
mod scope;

pub use model::{Action, Permission, Permissions, Resource};
pub use scope::RouterScope;
