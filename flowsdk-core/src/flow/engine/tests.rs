//! Tests of the engine.

mod any_flow;
mod comparators;
mod handover;
mod hostile;
mod long;
mod outputs;
mod outside;
pub(crate) mod stage;
mod stored;
mod turns;
mod validations;
