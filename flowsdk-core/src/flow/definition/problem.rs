//! The problems of a definition.

use crate::id::BlockId;
use crate::text::Text;

/// Returns a block that is named and is not there.
pub(in crate::flow) fn no_block(id: &BlockId) -> Text {
    Text::of(format!("não há o bloco `{id}`"), format!("there is no block `{id}`"))
}

/// The code of regular expressions that are too many or too large together.
pub(in crate::flow) const PATTERNS_TOO_LARGE: &str = "patterns_too_large";

/// How bad a [`Problem`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Severity {
    /// The flow cannot be published.
    Error,
    /// The flow can be published, but probably does not do the work its author meant.
    Warning,
}

/// One finding of parsing, validation or compilation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Whether the problem stands in the way of a publication.
    pub severity: Severity,
    /// Stable name of the finding, for example `target_not_found`.
    pub code: &'static str,
    /// The block it is in.
    pub block_id: Option<BlockId>,
    /// JSON pointer into the definition; empty for the whole of it.
    pub pointer: String,
    /// The message for authors.
    pub message: Text,
}

impl Problem {
    /// Returns an error that belongs to no block.
    pub(crate) fn error(code: &'static str, pointer: impl Into<String>, message: Text) -> Self {
        Self { severity: Severity::Error, code, block_id: None, pointer: pointer.into(), message }
    }

    /// Returns a warning that belongs to no block.
    pub(crate) fn warning(code: &'static str, pointer: impl Into<String>, message: Text) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, pointer, message) }
    }

    /// The same finding in `block`.
    pub(crate) fn in_block(self, block: &BlockId) -> Self {
        Self { block_id: Some(block.clone()), ..self }
    }

    /// Returns whether it prevents publishing, but not the running of a version that was published before: a limit
    /// that came later, and that holds while it runs.
    pub(crate) fn is_of_a_late_limit(&self) -> bool {
        self.code == PATTERNS_TOO_LARGE
    }

    /// Returns whether it prevents publishing.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}
