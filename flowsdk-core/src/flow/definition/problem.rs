//! What is wrong with a definition.

use serde::Serialize;

use crate::id::BlockId;

/// How bad a [`Problem`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The flow cannot be published.
    Error,
    /// The flow can be published, but probably does not do what its author meant.
    Warning,
}

/// One finding of parsing, validation or compilation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// Error or warning.
    pub severity: Severity,
    /// Stable name of the finding, for example `target_not_found`.
    pub code: &'static str,
    /// The block it is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_id: Option<BlockId>,
    /// JSON pointer into the definition; empty for the whole of it.
    pub pointer: String,
    /// What an author reads.
    pub message: String,
}

impl Problem {
    /// An error that belongs to no block.
    pub(crate) fn error(code: &'static str, pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            code,
            block_id: None,
            pointer: pointer.into(),
            message: message.into(),
        }
    }

    /// The same finding in `block`.
    pub(crate) fn in_block(self, block: &BlockId) -> Self {
        Self { block_id: Some(block.clone()), ..self }
    }

    /// Whether it prevents publishing.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}
