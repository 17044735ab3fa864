//! Routers: the root aggregate (spec A 2.2).

mod model;
mod repository;

pub use model::{DEFAULT_TZ, Router, StaticVariable, StaticVariables, VariableOwner};
pub use repository::{Route, RouterRepository};
