//! Creating, changing and deleting the static variables of routers and flows.

mod error;
mod service;

pub use error::VariableError;
pub use service::Variables;
