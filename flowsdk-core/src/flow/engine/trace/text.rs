//! Steps as lines for people.

use std::fmt;

use serde_json::Value;

use super::{ActionResult, FlowStep, TraceStep};

impl fmt::Display for TraceStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Received { kind, text, .. } if text.is_empty() => {
                write!(f, "the contact sends a message of type {kind}")
            }
            Self::Received { text, .. } => write!(f, "the contact says {}", quoted(text)),
            Self::InFlow(flow) => write!(f, "in flow {flow}"),
            Self::FlowEntered(flow) => write!(f, "enters flow {flow}"),
            Self::FlowReturned(flow) => write!(f, "returns to flow {flow}"),
            Self::Redirected { block_id } => write!(f, "is redirected to `{block_id}`"),
            Self::HandedOver { to } => write!(f, "is handed over: {}", to.name()),
            Self::HandedBack { from } => write!(f, "comes back: {}", from.name()),
            Self::Suspended { target: Some(target), .. } => write!(f, "requests {target}"),
            Self::Suspended { kind, target: None } => write!(f, "waits for {kind}"),
            Self::OutsideDone { outcome, message, took_ms } => {
                write!(f, "result: {outcome}")?;
                message.iter().try_for_each(|message| write!(f, ", {message}"))?;
                took_ms.iter().try_for_each(|took| write!(f, " (took {took} ms)"))
            }
            Self::Repeated { kind } => write!(f, "repeats {kind}"),
            Self::BlockEntered { block_id, title: Some(title) } => write!(f, "block `{block_id}`: {title}"),
            Self::BlockEntered { block_id, title: None } => write!(f, "block `{block_id}`"),
            Self::Answer { valid: true } => f.write_str("the answer is valid"),
            Self::Answer { valid: false } => f.write_str("the answer is not valid"),
            Self::TimedOut => f.write_str("the wait is over"),
            Self::Output { index, held: true, when } => write!(f, "takes output {}{}", index + 1, Of(when)),
            Self::Output { index, held: false, when } => {
                write!(f, "output {} does not hold{}", index + 1, Of(when))
            }
            Self::DefaultOutput => f.write_str("takes the default output"),
            Self::Action { kind, result, code: Some(code) } => {
                write!(f, "{kind} {} with {code}", outcome(*result))
            }
            Self::Action { kind, result, code: None } => write!(f, "{kind} {}", outcome(*result)),
            Self::VariableSet { key, value } => write!(f, "sets {key} = {value}"),
            Self::ContactSet { field, value } => write!(f, "sets contact.{field} = {value}"),
            Self::Sent { text, .. } if !text.is_empty() => write!(f, "sends {}", quoted(text)),
            Self::Sent { kind, .. } => write!(f, "sends a message of type {kind}"),
            Self::Failed { code, message } if message.is_empty() => write!(f, "fails with {code}"),
            Self::Failed { code, message } => write!(f, "fails with {code}: {message}"),
            Self::LeftOut { count } => write!(f, "({count} steps are left out)"),
        }
    }
}

impl fmt::Display for FlowStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = if self.name.is_empty() { self.flow_id.as_str() } else { &self.name };
        match self.version {
            0 => write!(f, "`{name}`"),
            version if version < 0 => write!(f, "`{name}`, test version"),
            version => write!(f, "`{name}`, version {version}"),
        }
    }
}

/// The words of an output, if there are any.
struct Of<'a>(&'a str);

impl fmt::Display for Of<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(f, ": {}", self.0) }
    }
}

/// Returns a text on one line: a contact cannot forge a line of a trace.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

fn outcome(result: ActionResult) -> &'static str {
    match result {
        ActionResult::Done => "is done",
        ActionResult::Skipped => "is skipped",
        ActionResult::Failed => "has failed",
    }
}
