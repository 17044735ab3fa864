//! Why a model did not answer.

use std::time::Duration;

/// Why a model did not answer. The reasons are for logs and for whoever looks at the turn: they have no key and no address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// Later it may answer: it is busy, broken or out of reach.
    #[error("the model is not available: {reason}")]
    Unavailable {
        /// Why.
        reason: String,
        /// How long the provider wants to be left alone.
        retry_after: Option<Duration>,
    },
    /// The account is not in order: its key is wrong, or its quota is used up. An administrator has to act.
    #[error("the provider refuses the account: {reason}")]
    Account {
        /// Why.
        reason: String,
    },
    /// The provider does not have the response from which it was asked to go on.
    #[error("the provider has lost the conversation")]
    PreviousLost,
    /// The conversation is longer than what the model reads.
    #[error("the conversation is too long for the model")]
    TooLong,
    /// The provider refuses what it was asked, and would again.
    #[error("the provider refuses the request: {reason}")]
    Refused {
        /// Why.
        reason: String,
    },
    /// The answer cannot be read.
    #[error("the answer of the model cannot be read: {reason}")]
    Unreadable {
        /// Why.
        reason: String,
    },
}

impl ModelError {
    /// Returns an error of a provider that is out of reach.
    pub fn unavailable(reason: impl Into<String>) -> Self {
        Self::Unavailable { reason: reason.into(), retry_after: None }
    }

    /// Returns the error with `secret` left out of its reason: some providers repeat the key that they refuse.
    pub(crate) fn without(self, secret: &str) -> Self {
        let hide = |reason: String| match secret {
            "" => reason,
            secret => reason.replace(secret, "***"),
        };
        match self {
            Self::Unavailable { reason, retry_after } => {
                Self::Unavailable { reason: hide(reason), retry_after }
            }
            Self::Account { reason } => Self::Account { reason: hide(reason) },
            Self::Refused { reason } => Self::Refused { reason: hide(reason) },
            Self::Unreadable { reason } => Self::Unreadable { reason: hide(reason) },
            other => other,
        }
    }

    /// Returns whether the same request may be answered later.
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Unavailable { .. } | Self::Unreadable { .. })
    }
}
