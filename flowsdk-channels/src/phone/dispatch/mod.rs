//! Dispatch: a template to a contact, whether they have written or not (spec A 4.8).

mod error;
mod fill;
mod model;
mod repository;
mod service;

pub use error::DispatchError;
pub use fill::{InvalidParameters, filled};
pub use model::{Dispatched, NewDispatch};
pub use repository::{DispatchAgentRepository, HasDispatchAgents};
pub use service::{Dispatcher, Dispatches};
