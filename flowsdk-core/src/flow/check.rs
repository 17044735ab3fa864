//! What a definition says itself of whether it can be published. Its scripts are another matter: see
//! [`FlowChecker`](super::FlowChecker).

use serde_json::Value;

use super::{FlowDefinition, FlowKind, PlacedScript, Problem};
use crate::text::Text;

/// Everything that is wrong with the definition of a flow of this kind, whether or not it can be read.
pub fn problems(kind: FlowKind, definition: &Value) -> Vec<Problem> {
    problems_and_scripts(kind, definition).0
}

/// As [`problems`], with the scripts of a definition that can be read.
pub(super) fn problems_and_scripts(kind: FlowKind, definition: &Value) -> (Vec<Problem>, Vec<PlacedScript>) {
    let mut found: Vec<_> = kind_mismatch(kind, definition).into_iter().collect();
    let (problems, scripts) = match FlowDefinition::parse(definition) {
        Ok(flow) => {
            let mut problems = flow.unread(definition);
            problems.extend(flow.validate());
            (problems, flow.scripts())
        }
        Err(problems) => (problems, Vec::new()),
    };
    found.extend(problems);
    (found, scripts)
}

/// Returns the warnings for the author of a definition that can be published.
///
/// # Errors
/// Every problem, warnings too.
pub fn publishable(kind: FlowKind, definition: &Value) -> Result<Vec<Problem>, Vec<Problem>> {
    let found = problems(kind, definition);
    if found.iter().any(Problem::is_error) { Err(found) } else { Ok(found) }
}

/// Compares the kind of the record with that of the definition, which the engine runs. A definition without a kind
/// is a flow's: so it is read where nothing knows the record.
fn kind_mismatch(kind: FlowKind, definition: &Value) -> Option<Problem> {
    let own = match definition.as_object()?.get("kind") {
        Some(name) => FlowKind::parse(name.as_str()?)?,
        None => FlowKind::Flow,
    };
    (own != kind).then(|| {
        let (flow, definition) = (kind.name(), own.name());
        let message = Text::of(
            format!("o flow é do tipo {flow}, sua definição do tipo {definition}"),
            format!("the flow is a {flow}, its definition that of a {definition}"),
        );
        Problem::error("kind_mismatch", "/kind", message)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_definition_is_of_the_kind_of_its_flow() {
        let of = |kind: Value| {
            let mut definition = json!({ "schemaVersion": 1, "startBlockId": "a",
                "blocks": [{ "id": "a", "type": "content", "defaultOutput": { "end": true } }] });
            if !kind.is_null() {
                definition["kind"] = kind;
            }
            definition
        };
        for (kind, own, fits) in [
            (FlowKind::Flow, json!(null), true),
            (FlowKind::Flow, json!("flow"), true),
            (FlowKind::Flow, json!("tool"), false),
            (FlowKind::Tool, json!("tool"), true),
            (FlowKind::Tool, json!("flow"), false),
            (FlowKind::Tool, json!(null), false),
        ] {
            let found = publishable(kind, &of(own.clone()));
            assert_eq!(found.is_ok(), fits, "{kind:?} {own}");
            for problem in found.err().into_iter().flatten() {
                assert_eq!((problem.code, problem.pointer.as_str()), ("kind_mismatch", "/kind"));
            }
        }
        // Together with the other errors, also when it cannot be read.
        let mut broken = of(json!("tool"));
        broken["blocks"] = json!([{ "id": "a", "type": "teleport" }]);
        let codes: Vec<_> =
            problems(FlowKind::Flow, &broken).into_iter().map(|problem| problem.code).collect();
        assert_eq!(codes, ["kind_mismatch", "unsupported_block_type"]);
        // An unknown kind is reported once.
        let codes: Vec<_> =
            problems(FlowKind::Flow, &of(json!("song"))).into_iter().map(|problem| problem.code).collect();
        assert_eq!(codes, ["malformed"]);
    }
}
