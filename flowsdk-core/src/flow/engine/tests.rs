//! Tests of the engine.

mod any_flow;
mod comparators;
mod hostile;
mod outputs;
pub(crate) mod stage;
mod turns;
mod validations;
