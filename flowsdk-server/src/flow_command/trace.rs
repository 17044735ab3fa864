//! The steps of a test, for people or for programs.

use std::fmt::Write as _;
use std::slice::Iter;

use flowsdk_core::fault::BoxError;
use flowsdk_core::flow::simulator::{Does, Report, Script, StepReport};
use flowsdk_core::flow::{ActionResult, TraceStep};
use serde_json::Value;

use super::TraceFormat;

/// Returns the steps of a test that was played, a line or more for each.
pub(super) fn traced(script: &Script, report: &Report, format: TraceFormat) -> Result<String, BoxError> {
    let mut text = String::new();
    for (at, (step, played)) in script.steps.iter().zip(&report.steps).enumerate() {
        match format {
            TraceFormat::Json => {
                writeln!(text, "  {}: {}", step.does.name(), serde_json::to_string(played)?)?;
            }
            TraceFormat::Text => {
                writeln!(text, "  step {}: {}", at + 1, event(&step.does))?;
                for line in lines(played) {
                    writeln!(text, "    {line}")?;
                }
            }
        }
    }
    Ok(text)
}

fn event(does: &Does) -> String {
    match does {
        Does::Say(text) => format!("the contact says {}", quoted(text)),
        Does::Tap { id, title } if title.is_empty() => format!("the contact taps {}", quoted(id)),
        Does::Tap { id, title } => format!("the contact taps {} ({})", quoted(title), id),
        Does::Send(message) => format!("the contact sends {}", Value::Object(message.clone())),
        Does::Wait(millis) => format!("{millis} ms pass"),
        Does::AgentEnds { reason } => format!("the agent ends{}", because(reason.as_deref())),
        Does::HumanEnds { .. } => "the human ends".to_owned(),
        Does::Redirect { block_id, .. } => format!("a redirect to `{block_id}`"),
    }
}

fn because(reason: Option<&str>) -> String {
    reason.map(|reason| format!(" ({reason})")).unwrap_or_default()
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// Returns what happened in a step, and how it ended.
fn lines(played: &StepReport) -> Vec<String> {
    let mut told = Told {
        messages: played.messages.iter(),
        requests: played.requests.iter(),
        failures: played.failures.iter(),
    };
    let mut lines: Vec<String> = played.trace.iter().map(|step| line(step, played, &mut told)).collect();
    lines.push(ending(played));
    lines
}

/// What the trace names without its content, each in the order of the trace.
struct Told<'a> {
    messages: Iter<'a, String>,
    requests: Iter<'a, String>,
    failures: Iter<'a, String>,
}

fn line(step: &TraceStep, played: &StepReport, told: &mut Told<'_>) -> String {
    match step {
        TraceStep::FlowEntered { flow_id } => format!("enters flow `{flow_id}`"),
        TraceStep::FlowReturned { flow_id } => format!("returns to flow `{flow_id}`"),
        TraceStep::Redirected { block_id } => format!("is redirected to `{block_id}`"),
        TraceStep::HandedOver { to } => format!("is handed over: {}", to.name()),
        TraceStep::HandedBack { from } => format!("comes back: {}", from.name()),
        TraceStep::Suspended { kind: kind @ "httpRequest" } => match told.requests.next() {
            Some(request) => format!("requests {request}"),
            None => format!("waits for {kind}"),
        },
        TraceStep::Suspended { kind } => format!("waits for {kind}"),
        TraceStep::Repeated { kind } => format!("repeats {kind}"),
        TraceStep::BlockEntered { block_id } => format!("block `{block_id}`"),
        TraceStep::Answer { valid: true } => "the answer is valid".to_owned(),
        TraceStep::Answer { valid: false } => "the answer is not valid".to_owned(),
        TraceStep::TimedOut => "the wait is over".to_owned(),
        TraceStep::Output { index, held: true } => format!("takes output {}", index + 1),
        TraceStep::Output { index, held: false } => format!("output {} does not hold", index + 1),
        TraceStep::DefaultOutput => "takes the default output".to_owned(),
        TraceStep::Action {
            kind: kind @ ("httpRequest" | "executeScript"),
            result: ActionResult::Failed,
        } => match told.failures.next() {
            Some(failure) => format!("{kind} has failed with {failure}"),
            None => format!("{kind} has failed"),
        },
        TraceStep::Action { kind, result } => format!("{kind} {}", outcome(*result)),
        TraceStep::VariableSet { key } => match played.variables.get(key) {
            Some(value) => format!("sets {key}, at the end {value}"),
            None => format!("sets {key}, at the end nothing"),
        },
        TraceStep::Sent { kind } => match told.messages.next() {
            Some(message) => format!("sends {}", quoted(message)),
            None => format!("sends a message of type {kind}"),
        },
        TraceStep::Failed { code } => format!("fails with {code}"),
    }
}

fn outcome(result: ActionResult) -> &'static str {
    match result {
        ActionResult::Done => "is done",
        ActionResult::Skipped => "is skipped",
        ActionResult::Failed => "has failed",
    }
}

fn ending(played: &StepReport) -> String {
    match (&played.error, &played.block) {
        (Some(error), _) => format!("freezes with {}: {error}", played.end),
        (None, Some(block)) => format!("ends: {} at `{block}`", played.end),
        (None, None) => format!("ends: {}", played.end),
    }
}
