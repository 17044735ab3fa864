//! A page of traces as lines for people.

use std::fmt::Write as _;

use flowsdk_core::admin::session::TracePage;
use flowsdk_core::flow::TraceStep;
use flowsdk_core::session::SessionTrace;
use serde_json::Value;

/// Returns the turns of a page, oldest first, each with its time and that since the turn before.
pub(super) fn text_of(page: &TracePage) -> String {
    if page.items.is_empty() {
        return "(no trace is stored: `settings.trace` of a flow asks for traces)\n".to_owned();
    }
    let mut text = String::new();
    // A formatter into a String does not fail.
    if let Some(next) = page.next {
        _ = writeln!(text, "(older turns: ?format=text&cursor={next})");
    }
    let mut before: Option<&SessionTrace> = None;
    for trace in page.items.iter().rev() {
        _ = write!(text, "{} {}", trace.created_at.to_iso(), trace.event);
        if let Some(before) = before {
            let since = trace.created_at.as_millis() - before.created_at.as_millis();
            _ = write!(text, ", {}.{:03} s after the turn before", since / 1_000, since % 1_000);
        }
        text.push('\n');
        for step in trace.steps.as_array().into_iter().flatten() {
            _ = writeln!(text, "  {}", line(step));
        }
        before = Some(trace);
    }
    text
}

/// Returns the line of a step; of one that another version wrote, its JSON.
fn line(step: &Value) -> String {
    serde_json::from_value::<TraceStep>(step.clone())
        .map_or_else(|_| step.to_string(), |step| step.to_string())
}
