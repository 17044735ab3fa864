//! Routers: the root aggregate (spec A 2.2).

mod catalog;
mod change;
mod error;
mod model;
mod reach;
mod repository;
mod service;

pub use catalog::{HasRouterCatalog, RouterCatalog};
pub use change::RouterChange;
pub use error::RouterError;
pub use model::{DEFAULT_TZ, Router, StaticVariable, StaticVariables, VariableOwner};
pub use reach::Reach;
pub use repository::{HasRouters, Route, RouterRepository};
pub use service::Routers;
