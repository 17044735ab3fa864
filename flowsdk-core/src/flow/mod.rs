//! Flows: their definition, their immutable versions and the engine that runs them.

mod catalog;
pub mod check;
mod checker;
mod compiled;
pub mod definition;
pub mod diff;
mod engine;
pub mod graph;
pub mod handoff;
pub(crate) mod interpolate;
mod model;
mod perform;
mod repository;
pub mod simulator;
mod tool;
mod tracked_event;
mod words;
mod work;
mod written;

pub use catalog::{
    AiAgentAround, FlowCatalog, FlowFilter, HasFlowCatalog, LastNumbers, ListedFlow, WholeFlow,
};
pub use checker::{FlowChecker, PlacedScript, scripts_of};
pub use compiled::CompiledFlow;
pub use definition::{FlowDefinition, Problem, Severity};
#[cfg(test)]
pub(crate) use engine::stage;
pub use engine::{
    ActionResult, Effect, EffectRequest, EffectResult, FlowSource, FlowStep, HttpRequest, NoFlows, Outcome,
    OutsideCall, Scene, ScriptRequest, TraceStep, Trigger, TurnEnd, ignored, run, run_within,
};
pub use model::{Flow, FlowDraft, FlowKind, FlowVersion, FlowVersionHead};
pub use perform::{
    HttpAnswer, HttpCaller, MAX_ANSWER, OutsideFailure, ScriptFault, ScriptPosition, ScriptRunner, perform,
};
pub use repository::{FlowRepository, HasFlows};
pub use tool::{ToolError, ToolOutcome, call_tool, call_tool_inside};
pub use tracked_event::{
    EventName, HasTrackedEvents, InvalidEventName, MAX_EVENT_NAME, TrackedEvent, TrackedEventRepository,
};
pub use work::{MAX_TURN_WORK, Work};
pub use written::Written;
