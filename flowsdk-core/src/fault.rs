//! Errors: the kind on which a caller can branch, and the public text beside it.

use std::fmt;
use std::time::Duration;

use crate::text::Text;

/// How an error looks from outside; the server maps each kind to a status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// The input does not fit its schema.
    Invalid,
    /// The caller lacks valid credentials.
    Unauthenticated,
    /// The caller may not do this.
    Forbidden,
    /// No such thing, or not within the caller's reach.
    NotFound,
    /// Impossible in the present state.
    Conflict,
    /// Well-formed, but it cannot be done.
    Unprocessable,
    /// Too many requests.
    RateLimited,
    /// Something needed is not there now; the caller may try again.
    Unavailable,
    /// Another server that was asked gave no answer of use.
    BadGateway,
    /// Another server that was asked gave none in time.
    GatewayTimeout,
    /// Our fault.
    Internal,
}

/// An error that can be shown: its kind, its stable code and its public text.
pub trait Fault: std::error::Error {
    /// How it looks from outside.
    fn kind(&self) -> FaultKind;
    /// Returns the stable `code` of the error body, snake case.
    fn code(&self) -> &'static str;
    /// Returns the public text, without inner details.
    fn text(&self) -> Text;
    /// Returns the field of the input that is at fault, as clients write it, where it is one.
    fn field(&self) -> Option<&'static str> {
        None
    }
    /// Returns further details, each of a field or of an obstacle, where there is more than one.
    fn details(&self) -> Vec<(String, Text)> {
        Vec::new()
    }
    /// Returns the limit that was reached, where it is one.
    fn rate_limit(&self) -> Option<RateLimit> {
        None
    }
}

/// A limit that was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimit {
    /// How often it may be done in its time.
    pub limit: u32,
    /// When it may be tried again, to the millisecond.
    pub retry_after: Duration,
}

/// Text of a conflict that nobody can say more about.
pub const CONFLICT: Text = Text::new("Registro em conflito", "Conflicting record");
/// Text of a failure that may pass.
pub const UNAVAILABLE: Text = Text::new("Serviço indisponível", "Service unavailable");
/// Text of a fault of ours.
pub const INTERNAL: Text = Text::new("Erro interno", "Internal error");

/// A storage error, as far as a caller can act on it.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    /// A unique rule was broken; `constraint` names it where the database tells.
    #[error("unique rule broken: {constraint}")]
    Unique {
        /// Name of the index or constraint.
        constraint: String,
    },
    /// The row to which this one belongs is gone; `constraint` names the rule where the database tells.
    #[error("foreign key broken: {constraint}")]
    Orphan {
        /// Name of the constraint.
        constraint: String,
    },
    /// The row has changed since it was read (compare-and-set on its version).
    #[error("{entity} changed meanwhile")]
    Stale {
        /// The kind of row.
        entity: &'static str,
    },
    /// A lock, a serialisation failure or a full pool: the same work may succeed at once.
    #[error("contention")]
    Contention(#[source] BoxError),
    /// The database is not there now.
    #[error("storage unavailable")]
    Unavailable(#[source] BoxError),
    /// The stored value cannot be read.
    #[error("stored {entity} cannot be read: {reason}")]
    Corrupt {
        /// The kind of row.
        entity: &'static str,
        /// Why.
        reason: String,
    },
    /// Anything else: a fault of ours or of the database.
    #[error("storage failed")]
    Other(#[source] BoxError),
}

/// A source that callers do not branch on.
pub type BoxError = Box<dyn std::error::Error + Send + Sync + 'static>;

impl StorageError {
    /// Returns whether the same work may succeed when retried.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Stale { .. } | Self::Contention(_) | Self::Unavailable(_))
    }
}

impl Fault for StorageError {
    fn kind(&self) -> FaultKind {
        match self {
            Self::Unique { .. } | Self::Orphan { .. } | Self::Stale { .. } => FaultKind::Conflict,
            Self::Contention(_) | Self::Unavailable(_) => FaultKind::Unavailable,
            Self::Corrupt { .. } | Self::Other(_) => FaultKind::Internal,
        }
    }

    fn code(&self) -> &'static str {
        match self.kind() {
            FaultKind::Conflict => "conflict",
            FaultKind::Unavailable => "unavailable",
            _ => "internal",
        }
    }

    fn text(&self) -> Text {
        match self.kind() {
            FaultKind::Conflict => CONFLICT,
            FaultKind::Unavailable => UNAVAILABLE,
            _ => INTERNAL,
        }
    }
}

/// Shows an error with all its sources on one line, for logs.
pub struct Chain<'a>(pub &'a (dyn std::error::Error + 'a));

impl fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut source = self.0.source();
        while let Some(error) = source {
            write!(f, ": {error}")?;
            source = error.source();
        }
        Ok(())
    }
}
