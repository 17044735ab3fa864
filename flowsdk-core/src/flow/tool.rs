//! Tools: mini-flows that AI agents call. They run without stops and give back variables.

use serde_json::{Map, Value};

use super::definition::{FlowKind, ParameterKind};
use super::perform::{HttpCaller, ScriptRunner, perform};
use super::{CompiledFlow, Effect, Outcome, Scene, Trigger, TurnEnd, run, run_within};
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
    let own = scratch(session, &scene.flow, arguments)?;
    let mut outcome = run(scene, own, contact, Trigger::Open);
    while let TurnEnd::Effect(request) = &outcome.end {
        let (seq, result) = (request.seq, perform(&request.call, http, scripts).await);
        let trigger = Trigger::EffectDone { seq, result: &result };
        let mut next = run(scene, outcome.session, outcome.contact, trigger);
        outcome.effects.append(&mut next.effects);
        let contact_changed = outcome.contact_changed || next.contact_changed;
        outcome = Outcome { effects: outcome.effects, contact_changed, ..next };
    }
    end(&scene.flow, outcome)
}

/// Calls a tool as [`call_tool`] does, if it asks nothing of the outside and needs no more than `allowance` units of work.
/// Returns `None` if it does: nothing has happened then.
///
/// # Errors
/// When the arguments do not fit its parameters, or it fails.
pub fn call_tool_inside(
    scene: &Scene<'_>,
    session: &Session,
    contact: Contact,
    arguments: Map<String, Value>,
    allowance: u64,
) -> Result<Option<ToolOutcome>, ToolError> {
    let own = scratch(session, &scene.flow, arguments)?;
    let outcome = run_within(scene, own, contact, Trigger::Open, allowance);
    if outcome.is_cut_short() || matches!(outcome.end, TurnEnd::Effect(_)) {
        return Ok(None);
    }
    end(&scene.flow, outcome).map(Some)
}

/// Returns what a tool gives back that asks nothing more of the outside.
fn end(flow: &CompiledFlow, outcome: Outcome) -> Result<ToolOutcome, ToolError> {
    let Outcome { session, contact, contact_changed, effects, end, .. } = outcome;
    match end {
        TurnEnd::Ended => {
            let mut variables = session.variables;
            let returns = flow.returns().iter();
            let returns = returns.filter_map(|name| variables.remove_entry(name)).collect();
            Ok(ToolOutcome { returns, contact, contact_changed, effects })
        }
        TurnEnd::Frozen(error) => Err(ToolError::Failed { code: error.code, message: error.message }),
        TurnEnd::Waiting | TurnEnd::HandedOver(_) | TurnEnd::Effect(_) => {
            let message = "a tool runs without stops".to_owned();
            Err(ToolError::Failed { code: "stop_in_tool".to_owned(), message })
        }
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

/// Returns a copy of the session in which the tool runs with these arguments.
fn scratch(
    session: &Session,
    flow: &CompiledFlow,
    arguments: Map<String, Value>,
) -> Result<Session, ToolError> {
    check(flow, &arguments)?;
    let mut variables = session.variables.clone();
    variables.extend(arguments);
    Ok(Session {
        variables,
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
    })
}

#[cfg(test)]
mod tests;
