//! Routers: the root aggregate (spec A 2.2), as far as conversations need it.

mod model;
mod repository;

pub use model::{DEFAULT_TZ, Router, StaticVariable, StaticVariables, VariableOwner};
pub use repository::{Route, RouterRepository};
