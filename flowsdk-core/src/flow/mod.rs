//! Flows: their definition, their immutable versions and the engine that runs them.

mod model;
mod repository;

pub use model::{Flow, FlowVersion};
pub use repository::FlowRepository;
