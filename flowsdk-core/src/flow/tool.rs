//! Tools: mini-flows that AI agents call. They run without stops and give back variables.

use serde_json::{Map, Value};

use super::definition::{FlowKind, ParameterKind};
use super::perform::{HttpCaller, ScriptRunner, perform};
use super::{CompiledFlow, Effect, Scene, Trigger, TurnEnd, run};
use crate::contact::Contact;
use crate::session::{Mode, Position, Session};

/// The result of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolOutcome {
    /// The variables that it returns.
    pub returns: Map<String, Value>,
    /// The contact after it.
    pub contact: Contact,
    /// Whether the contact must be written.
    pub contact_changed: bool,
    /// The effects to perform outside, in order.
    pub effects: Vec<Effect>,
}

/// Why a tool gave nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolError {
    /// The flow is not a tool.
    #[error("not a tool")]
    NotATool,
    /// The arguments do not fit; one text each, for the model.
    #[error("{}", .0.join("; "))]
    Arguments(Vec<String>),
    /// The tool began and could not finish.
    #[error("{code}: {message}")]
    Failed {
        /// The stable code of the error.
        code: String,
        /// The message for operators.
        message: String,
    },
}

/// Calls the tool [`Scene::flow`] for `session`, whose variables it sees and does not change.
///
/// # Errors
/// When the arguments do not fit its parameters, or it fails.
pub async fn call_tool(
    scene: &Scene<'_>,
    session: &Session,
    contact: Contact,
    arguments: Map<String, Value>,
    http: &dyn HttpCaller,
    scripts: &dyn ScriptRunner,
) -> Result<ToolOutcome, ToolError> {
    let flow = &scene.flow;
    check(flow, &arguments)?;
    let mut own = scratch(session, flow);
    own.variables.extend(arguments);
    let mut outcome = run(scene, own, contact, Trigger::Open);
    let mut effects = std::mem::take(&mut outcome.effects);
    let mut contact_changed = outcome.contact_changed;
    loop {
        outcome = match outcome.end {
            TurnEnd::Effect(request) => {
                let result = perform(&request.call, http, scripts).await;
                let trigger = Trigger::EffectDone { seq: request.seq, result: &result };
                run(scene, outcome.session, outcome.contact, trigger)
            }
            TurnEnd::Ended => {
                let mut variables = outcome.session.variables;
                let returns = flow.returns().iter();
                let returns = returns.filter_map(|name| variables.remove_entry(name)).collect();
                return Ok(ToolOutcome { returns, contact: outcome.contact, contact_changed, effects });
            }
            TurnEnd::Frozen(error) => {
                return Err(ToolError::Failed { code: error.code, message: error.message });
            }
            TurnEnd::Waiting | TurnEnd::HandedOver(_) => {
                let message = "a tool runs without stops".to_owned();
                return Err(ToolError::Failed { code: "stop_in_tool".to_owned(), message });
            }
        };
        effects.append(&mut outcome.effects);
        contact_changed |= outcome.contact_changed;
    }
}

/// Everything that is wrong with the arguments.
fn check(flow: &CompiledFlow, arguments: &Map<String, Value>) -> Result<(), ToolError> {
    if flow.kind() != FlowKind::Tool {
        return Err(ToolError::NotATool);
    }
    let mut wrong = Vec::new();
    for parameter in flow.parameters() {
        match arguments.get(&parameter.name) {
            None | Some(Value::Null) if parameter.required => {
                wrong.push(format!("`{}` is missing", parameter.name));
            }
            None | Some(Value::Null) => {}
            Some(value) if fits(parameter.kind, value) => {}
            Some(_) => wrong.push(format!("`{}` is no {:?}", parameter.name, parameter.kind).to_lowercase()),
        }
    }
    let known = |name: &String| flow.parameters().iter().any(|parameter| parameter.name == *name);
    wrong.extend(arguments.keys().filter(|name| !known(name)).map(|name| format!("`{name}` is not known")));
    if wrong.is_empty() { Ok(()) } else { Err(ToolError::Arguments(wrong)) }
}

fn fits(kind: ParameterKind, value: &Value) -> bool {
    match kind {
        ParameterKind::String => value.is_string(),
        ParameterKind::Number => value.is_number(),
        ParameterKind::Integer => value.is_i64() || value.is_u64(),
        ParameterKind::Boolean => value.is_boolean(),
        ParameterKind::Object => value.is_object(),
        ParameterKind::Array => value.is_array(),
    }
}

/// Returns a copy of the session in which the tool runs.
fn scratch(session: &Session, flow: &CompiledFlow) -> Session {
    Session {
        mode: Mode::Flow,
        position: Some(Position {
            flow_id: flow.flow_id().clone(),
            version_id: flow.version_id().clone(),
            block_id: None,
            waiting: None,
        }),
        agent: None,
        helpdesk: None,
        pending: None,
        calls: Vec::new(),
        deferred: Vec::new(),
        ..session.clone()
    }
}

#[cfg(test)]
mod tests;
