//! Flows: their definition, their immutable versions and the engine that runs them.

mod catalog;
pub mod check;
mod compiled;
pub mod definition;
pub mod diff;
mod engine;
mod error;
mod interpolate;
mod model;
mod repository;
mod service;

pub use catalog::{FlowCatalog, FlowFilter, FlowReferences, LastNumbers, ListedFlow, WholeFlow};
pub use compiled::CompiledFlow;
pub use definition::{FlowDefinition, Problem, Severity};
pub use engine::{ActionResult, Effect, Outcome, Scene, TraceStep, Trigger, TurnEnd, run};
pub use error::FlowError;
pub use model::{Flow, FlowDraft, FlowKind, FlowVersion, FlowVersionHead};
pub use repository::FlowRepository;
pub(crate) use service::empty_definition;
pub use service::{FlowChange, FlowDetails, Flows, NewFlow, Tested, publish_test};
