//! Flows: their definition, their immutable versions and the engine that runs them.

mod compiled;
pub mod definition;
mod engine;
mod interpolate;
mod model;
mod repository;

pub use compiled::CompiledFlow;
pub use definition::{FlowDefinition, Problem, Severity};
pub use engine::{ActionResult, Effect, Outcome, Scene, TraceStep, Trigger, TurnEnd, run};
pub use model::{Flow, FlowVersion};
pub use repository::FlowRepository;
