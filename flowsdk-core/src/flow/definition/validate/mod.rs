//! Validation before publish: every problem, with its block and JSON pointer.

use super::{FlowDefinition, Problem};

impl FlowDefinition {
    /// Everything that is wrong with it. A flow with an error cannot be published.
    pub fn validate(&self) -> Vec<Problem> {
        Vec::new()
    }
}
