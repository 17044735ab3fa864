//! Whether a definition can be published.

use serde_json::Value;

use super::{FlowDefinition, Problem};

/// Everything that is wrong with a definition, whether or not it can be read.
pub fn problems(definition: &Value) -> Vec<Problem> {
    match FlowDefinition::parse(definition) {
        Ok(flow) => flow.validate(),
        Err(problems) => problems,
    }
}

/// The definition, if nothing prevents its publication.
///
/// # Errors
/// Every problem, warnings too.
pub fn publishable(definition: &Value) -> Result<(), Vec<Problem>> {
    let found = problems(definition);
    if found.iter().any(Problem::is_error) { Err(found) } else { Ok(()) }
}
