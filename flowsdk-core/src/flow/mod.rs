//! Flows: their definition, their immutable versions and the engine that runs them.

mod catalog;
pub mod check;
mod compiled;
pub mod definition;
pub mod diff;
mod engine;
mod error;
pub mod graph;
mod initial;
mod interpolate;
mod model;
mod perform;
mod repository;
mod service;
pub mod simulator;
mod surroundings;
mod tool;
mod tracked_event;
mod tx;

pub use catalog::{
    FlowCatalog, FlowFilter, FlowReferences, HasFlowCatalog, LastNumbers, ListedFlow, WholeFlow,
};
pub use compiled::CompiledFlow;
pub use definition::{FlowDefinition, Problem, Severity};
pub use engine::{
    ActionResult, Effect, EffectRequest, EffectResult, FlowSource, HttpRequest, NoFlows, Outcome,
    OutsideCall, Scene, ScriptRequest, TraceStep, Trigger, TurnEnd, ignored, run,
};
pub use error::{FlowError, TOOL_BEGINS_NOTHING};
pub use initial::{InitialFlowError, require_initial};
pub use model::{Flow, FlowDraft, FlowKind, FlowVersion, FlowVersionHead};
pub use perform::{HttpAnswer, HttpCaller, MAX_ANSWER, OutsideFailure, ScriptRunner, perform};
pub use repository::{FlowRepository, HasFlows};
pub(crate) use service::empty_definition;
pub use service::{
    CheckedTest, FlowChange, FlowDetails, Flows, NewFlow, PUBLISH_ATTEMPTS, Tested, WhichDefinition,
    check_test, publish_test,
};
pub use surroundings::Surroundings;
pub use tool::{ToolError, ToolOutcome, call_tool};
pub use tracked_event::{HasTrackedEvents, TrackedEvent, TrackedEventRepository};
pub use tx::FlowsTx;
