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
    let mut told = Told { requests: played.requests.iter(), failures: played.failures.iter() };
    // What the contact says is in the line of the test's step.
    let steps = played.trace.iter().filter(|step| !matches!(step, TraceStep::Received { .. }));
    let mut lines: Vec<String> = steps.map(|step| line(step, &mut told)).collect();
    lines.push(ending(played));
    lines
}

/// What the trace tells only in part, each in the order of the trace.
struct Told<'a> {
    requests: Iter<'a, String>,
    failures: Iter<'a, String>,
}

fn line(step: &TraceStep, told: &mut Told<'_>) -> String {
    let more = match step {
        TraceStep::Suspended { kind, .. } if kind == "httpRequest" => {
            told.requests.next().map(|request| format!("requests {request}"))
        }
        TraceStep::Action { kind, result: ActionResult::Failed, .. }
            if kind == "httpRequest" || kind == "executeScript" =>
        {
            told.failures.next().map(|failure| format!("{kind} has failed with {failure}"))
        }
        _ => None,
    };
    more.unwrap_or_else(|| step.to_string())
}

fn ending(played: &StepReport) -> String {
    match (&played.error, &played.block) {
        (Some(error), _) => format!("freezes with {}: {error}", played.end),
        (None, Some(block)) => format!("ends: {} at `{block}`", played.end),
        (None, None) => format!("ends: {}", played.end),
    }
}
