//! What commands print.

/// The output of a command, and its success.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Printed {
    /// The text for standard output.
    pub text: String,
    /// Whether the command succeeded.
    pub ok: bool,
}

impl Printed {
    /// The output of a command that succeeded.
    pub(crate) fn done(text: String) -> Self {
        Self { text, ok: true }
    }
}
