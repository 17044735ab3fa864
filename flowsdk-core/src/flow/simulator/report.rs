//! The results of a simulation.

use serde::Serialize;
use serde_json::{Map, Value};

use super::world::type_of;
use super::{Expect, Step};
use crate::flow::{EffectResult, TraceStep};
use crate::id::BlockId;
use crate::message::ContentMessage;

/// The result of a simulation.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// The result of each step, in order.
    pub steps: Vec<StepReport>,
    /// Expectations that were not met.
    pub failures: Vec<String>,
}

impl Report {
    /// Returns whether every expectation was met.
    pub fn passed(&self) -> bool {
        self.failures.is_empty()
    }

    /// Adds a step that was played. Steps are counted from 1, as people do.
    pub(super) fn add(&mut self, step: &Step, played: StepReport) {
        let place = format!("step {} ({})", self.steps.len() + 1, step.does.name());
        let failures = played.compare(&step.expect).into_iter();
        self.failures.extend(failures.map(|failure| format!("{place}: {failure}")));
        self.steps.push(played);
    }
}

/// The result of a step.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StepReport {
    /// The messages sent (see [`Expect::messages`]).
    pub messages: Vec<String>,
    /// The messages as a channel would carry them.
    #[serde(skip)]
    pub contents: Vec<ContentMessage>,
    /// The block on which the session stands; `None` when there is no session.
    pub block: Option<BlockId>,
    /// How it ended (see [`Expect::end`]).
    pub end: String,
    /// The message of the error that froze the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The session variables after it.
    pub variables: Map<String, Value>,
    /// The requests that were made, as `METHOD address`.
    pub requests: Vec<String>,
    /// Why requests and scripts failed, each as `code: message`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<String>,
    /// The trace of the engine.
    pub trace: Vec<TraceStep>,
}

impl StepReport {
    /// Notes why a request or script failed, if it did: the flow may go on and say nothing of it.
    pub(super) fn note(&mut self, result: &EffectResult) {
        if let EffectResult::Failed { code, message, .. } = result {
            self.failures.push(format!("{code}: {message}"));
        }
    }

    /// Returns whether these messages were sent, each by its text or by its type.
    fn sent(&self, expected: &[String]) -> bool {
        let fits = |(at, text): (usize, &String)| {
            self.messages.get(at) == Some(text)
                || self.contents.get(at).is_some_and(|content| type_of(content) == *text)
        };
        expected.len() == self.messages.len() && expected.iter().enumerate().all(fits)
    }

    /// Returns the differences from the expectations.
    pub(super) fn compare(&self, expect: &Expect) -> Vec<String> {
        let mut failures = Vec::new();
        let mut differ = |what: &str, expected: &Value, found: &Value| {
            if expected != found {
                failures.push(format!("{what}: expected {expected}, found {found}"));
            }
        };
        if let Some(messages) = &expect.messages
            && !self.sent(messages)
        {
            differ("messages", &messages.as_slice().into(), &self.messages.as_slice().into());
        }
        if let Some(block) = &expect.block {
            differ("block", &block.as_str().into(), &self.block.as_ref().map(|block| block.as_str()).into());
        }
        if let Some(end) = &expect.end {
            differ("end", &end.as_str().into(), &self.end.as_str().into());
        }
        // Whatever was expected, this is why it did not come.
        let meant = expect.end.as_ref() == Some(&self.end);
        let error = self.error.as_ref().filter(|_| !meant);
        for (key, value) in &expect.variables {
            let found = self.variables.get(key).unwrap_or(&Value::Null);
            differ(&format!("variable {key}"), value, found);
        }
        if let Some(requests) = &expect.requests {
            let fit = requests.len() == self.requests.len()
                && requests.iter().zip(&self.requests).all(|(part, made)| made.contains(part.as_str()));
            if !fit {
                differ("requests", &requests.as_slice().into(), &self.requests.as_slice().into());
            }
        }
        if let Some(error) = error.filter(|_| !failures.is_empty()) {
            failures.push(format!("the session froze with {}: {error}", self.end));
        }
        failures
    }
}
