//! What of a trace is stored: bounded, and without the values of static variables. And what of it is logged.

use secrecy::ExposeSecret as _;

use crate::event::EffectDone;
use crate::flow::{EffectResult, TraceStep};
use crate::id::{BlockId, MessageId};
use crate::router::StaticVariables;
use crate::session::Session;

/// Most steps of an event that are kept at its beginning, and at its end.
const FIRST: usize = 100;
const LAST: usize = 100;
/// Fewest bytes of a value that is hidden: shorter ones stand in texts by chance.
const SHORTEST: usize = 4;
/// What stands for a hidden value.
const HIDDEN: &str = "•••";

/// Returns the steps to store: the first and the last ones, with the values of static variables hidden.
pub(super) fn storable(mut steps: Vec<TraceStep>, statics: &StaticVariables) -> Vec<TraceStep> {
    if let Some(count) = steps.len().checked_sub(FIRST + LAST).filter(|count| *count > 0) {
        steps.splice(FIRST..FIRST + count, [TraceStep::LeftOut { count }]);
    }
    let values = statics.flows.values().chain([&statics.router]).flat_map(|map| map.values());
    let values: Vec<&str> =
        values.map(|value| value.expose_secret()).filter(|value| value.len() >= SHORTEST).collect();
    if !values.is_empty() {
        for step in &mut steps {
            step.rewrite(&mut |text| hide(text, &values));
        }
    }
    steps
}

/// Returns the step that tells how a request or script ended.
pub(super) fn outside_done(event: &EffectDone) -> TraceStep {
    let (outcome, message) = match &event.result {
        EffectResult::Http { status, .. } => (status.to_string(), None),
        EffectResult::Script { .. } => ("script".to_owned(), None),
        EffectResult::Failed { code, message, .. } => {
            (code.clone(), Some(message.chars().take(200).collect()))
        }
    };
    TraceStep::OutsideDone { outcome, message, took_ms: event.took_ms }
}

/// Where an error stopped a session, for the log.
pub(super) struct Stopped<'a> {
    pub(super) flow: Option<&'a str>,
    pub(super) block: Option<&'a str>,
    pub(super) message: Option<&'a str>,
}

impl<'a> Stopped<'a> {
    /// Where `session` stood, or came to in these steps; and the message that was handled.
    pub(super) fn of(session: &'a Session, steps: &'a [TraceStep]) -> Self {
        let (position, pending) = (session.position.as_ref(), session.pending.as_ref());
        let mut stopped = Self {
            flow: position.map(|position| position.flow_id.as_str()),
            block: position.and_then(|position| position.block_id.as_ref()).map(BlockId::as_str),
            message: pending
                .and_then(|pending| pending.input.as_ref()?.internal_id.as_ref())
                .map(MessageId::as_str),
        };
        for step in steps {
            match step {
                TraceStep::InFlow(flow) | TraceStep::FlowEntered(flow) | TraceStep::FlowReturned(flow) => {
                    stopped.flow = Some(flow.flow_id.as_str());
                }
                TraceStep::BlockEntered { block_id, .. } => stopped.block = Some(block_id.as_str()),
                TraceStep::Received { message_id, .. } => {
                    stopped.message = message_id.as_ref().map(MessageId::as_str);
                }
                _ => {}
            }
        }
        stopped
    }
}

/// Hides values in a text, and the beginning of one at which the text was cut.
fn hide(text: &mut String, values: &[&str]) {
    for value in values {
        if text.contains(value) {
            *text = text.replace(value, HIDDEN);
        }
        if let Some(kept) = text.strip_suffix('…')
            && let Some(part) = cut_in(kept, value)
        {
            let end = kept.len() - part;
            text.truncate(end);
            text.push_str(HIDDEN);
        }
    }
}

/// Returns how many bytes of the beginning of `value` a text ends with, if they are enough to be hidden.
fn cut_in(text: &str, value: &str) -> Option<usize> {
    let longest = (value.len() - 1).min(text.len());
    (SHORTEST..=longest).rev().find(|part| value.is_char_boundary(*part) && text.ends_with(&value[..*part]))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::id::FlowId;

    fn statics() -> StaticVariables {
        let one =
            |key: &str, value: &str| Arc::new(BTreeMap::from([(key.to_owned(), value.to_owned().into())]));
        let flow: FlowId = "f".parse().expect("an id");
        StaticVariables {
            router: one("token", "s3cr3t-token"),
            flows: BTreeMap::from([(flow, one("short", "abc"))]),
        }
    }

    fn sent(text: &str) -> TraceStep {
        TraceStep::Sent { kind: "text".into(), text: text.to_owned() }
    }

    #[test]
    fn values_of_static_variables_are_hidden_wherever_they_stand() {
        let set = |value| TraceStep::VariableSet { key: "k".to_owned(), value };
        for (step, expected) in [
            (sent("use s3cr3t-token, s3cr3t-token!"), sent("use •••, •••!")),
            (sent("cut here: s3cr3t-…"), sent("cut here: •••")),
            (sent("abc s3c…"), sent("abc s3c…")),
            (set(json!({ "a": ["Bearer s3cr3t-token", 7] })), set(json!({ "a": ["Bearer •••", 7] }))),
        ] {
            assert_eq!(storable(vec![step], &statics()), [expected]);
        }
    }

    #[test]
    fn a_long_trace_keeps_its_beginning_and_its_end() {
        let steps: Vec<_> = (0..1_000).map(|at| sent(&at.to_string())).collect();
        let kept = storable(steps.clone(), &statics());
        assert_eq!(kept.len(), FIRST + 1 + LAST);
        assert_eq!(
            (&kept[99], &kept[100], &kept[101]),
            (&sent("99"), &TraceStep::LeftOut { count: 800 }, &sent("900"))
        );
        assert_eq!(storable(steps[..200].to_vec(), &statics()), steps[..200]);
    }
}
