//! Flows: their definition, their immutable versions and the engine that runs them.

mod compiled;
pub mod definition;
mod diff;
mod engine;
pub mod graph;
mod interpolate;
mod model;
mod perform;
mod repository;
pub mod simulator;
mod tool;
mod tracked_event;

pub use compiled::CompiledFlow;
pub use definition::{FlowDefinition, Problem, Severity};
pub use diff::{Difference, diff};
pub use engine::{
    ActionResult, Effect, EffectRequest, EffectResult, FlowSource, HttpRequest, NoFlows, Outcome,
    OutsideCall, Scene, ScriptRequest, TraceStep, Trigger, TurnEnd, ignored, run,
};
pub use model::{Flow, FlowVersion};
pub use perform::{HttpAnswer, HttpCaller, MAX_ANSWER, OutsideFailure, ScriptRunner, perform};
pub use repository::FlowRepository;
pub use tool::{ToolError, ToolOutcome, call_tool};
pub use tracked_event::{TrackedEvent, TrackedEventRepository};
