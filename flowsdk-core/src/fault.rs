//! Errors: the kind on which a caller can branch, and the public text beside it.

use std::fmt;
use std::sync::Arc;
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
    /// The caller made too many requests.
    RateLimited,
    /// Something needed is not there now; the caller may try again.
    Unavailable,
    /// Another server that was asked gave no answer of use.
    BadGateway,
    /// Another server that was asked gave none in time.
    GatewayTimeout,
    /// A fault of the server, not of the caller.
    Internal,
}

/// Implements [`trait@Fault`] by one row a variant, beside thiserror's.
///
/// ```
/// use std::time::Duration;
///
/// use flowsdk_core::fault::{Fault, FaultKind, RateLimit, StorageError};
/// use flowsdk_core::text::Text;
///
/// const BUSY: Text = Text::new("Muitos pedidos", "Too many requests");
///
/// #[derive(Debug, thiserror::Error, Fault)]
/// enum TicketError {
///     // The kind, the code and the public text in both languages.
///     #[error("no such ticket")]
///     #[fault(NotFound, "not_found", pt = "Ticket não encontrado", en = "Ticket not found")]
///     NotFound,
///     // Braces name fields, as in `#[error]`; `field` is the field of the input that is at fault.
///     #[error("ticket at revision {now}")]
///     #[fault(
///         Conflict,
///         "stale_revision",
///         pt = "A revisão atual é {now}",
///         en = "Its revision now is {now}",
///         field = "revision"
///     )]
///     Stale { now: u32 },
///     // `text`, `field`, `details` and `rate_limit` are expressions: `.0` and `.name` are fields, by reference.
///     #[error("not a ticket")]
///     #[fault(Invalid, "validation_failed", pt = "Dados inválidos", en = "Invalid data", details = .0.clone())]
///     Invalid(Vec<(String, Text)>),
///     #[error("too many requests")]
///     #[fault(RateLimited, "rate_limited", text = BUSY, rate_limit = *.0)]
///     TooMany(RateLimit),
///     // Everything is that of the inner fault, its details and limits too.
///     #[error(transparent)]
///     #[fault(transparent)]
///     Storage(#[from] StorageError),
/// }
///
/// let error = TicketError::Stale { now: 7 };
/// assert_eq!((error.kind(), error.code(), error.field()), (FaultKind::Conflict, "stale_revision", Some("revision")));
/// assert_eq!(error.text(), Text::new("A revisão atual é 7", "Its revision now is 7"));
/// let limit = RateLimit { limit: 5, retry_after: Duration::from_secs(1) };
/// assert_eq!(TicketError::TooMany(limit).rate_limit(), Some(limit));
/// let empty = ("subject".to_owned(), Text::new("Vazio", "Empty"));
/// assert_eq!(TicketError::Invalid(vec![empty.clone()]).details(), [empty]);
/// let inner = TicketError::from(StorageError::Unavailable("gone".into()));
/// assert_eq!(inner.kind(), FaultKind::Unavailable);
/// ```
///
/// | in `#[fault(..)]` | |
/// |---|---|
/// | first | the variant of [`FaultKind`] |
/// | second | the code: a literal, or a constant |
/// | `pt`, `en` | the public text; `{name}` and `{0}` are fields, `{{` is a brace |
/// | `text` | instead of both: a [`Text`] |
/// | `field` | the field of the input that is at fault: a `&'static str`, or an `Option` of one |
/// | `details` | further details: a `Vec<(String, Text)>` |
/// | `rate_limit` | the [`RateLimit`] that was reached |
/// | `transparent` | alone: everything is that of the only field, which is a fault |
///
/// A struct has the attribute beside its derive. An enum may have one there for the parts that most variants share;
/// a variant's own part comes before it, and a transparent variant takes none of it:
///
/// ```
/// use flowsdk_core::fault::{Fault, FaultKind};
///
/// #[derive(Debug, thiserror::Error, Fault)]
/// #[fault(Forbidden, "permission_denied", pt = "Sem permissão", en = "Permission denied")]
/// enum Denied {
///     #[error("no group")]
///     NoGroup,
///     #[error("not an administrator")]
///     #[fault("admin_only", pt = "Acesso restrito a administradores", en = "Administrators only")]
///     Admin,
/// }
///
/// assert_eq!((Denied::NoGroup.kind(), Denied::NoGroup.code()), (FaultKind::Forbidden, "permission_denied"));
/// assert_eq!((Denied::Admin.kind(), Denied::Admin.code()), (FaultKind::Forbidden, "admin_only"));
/// ```
///
/// A variant without a kind, a code or a text does not compile:
///
/// ```compile_fail
/// #[derive(Debug, thiserror::Error, flowsdk_core::fault::Fault)]
/// enum Incomplete {
///     #[error("no face")]
///     #[fault(NotFound, "not_found")]
///     NoText,
/// }
/// ```
pub use flowsdk_macros::Fault;

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

impl<F: Fault + ?Sized> Fault for Arc<F> {
    fn kind(&self) -> FaultKind {
        (**self).kind()
    }

    fn code(&self) -> &'static str {
        (**self).code()
    }

    fn text(&self) -> Text {
        (**self).text()
    }

    fn field(&self) -> Option<&'static str> {
        (**self).field()
    }

    fn details(&self) -> Vec<(String, Text)> {
        (**self).details()
    }

    fn rate_limit(&self) -> Option<RateLimit> {
        (**self).rate_limit()
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
#[derive(Debug, thiserror::Error, Fault)]
pub enum StorageError {
    /// A unique rule was broken; `constraint` names it where the database tells.
    #[error("unique rule broken: {constraint}")]
    #[fault(Conflict, "conflict", text = CONFLICT)]
    Unique {
        /// Name of the index or constraint.
        constraint: String,
    },
    /// The row to which this one belongs is gone; `constraint` names the rule where the database tells.
    #[error("foreign key broken: {constraint}")]
    #[fault(Conflict, "conflict", text = CONFLICT)]
    Orphan {
        /// Name of the constraint.
        constraint: String,
    },
    /// The row has changed since it was read (compare-and-set on its version).
    #[error("{entity} changed meanwhile")]
    #[fault(Conflict, "conflict", text = CONFLICT)]
    Stale {
        /// The kind of row.
        entity: &'static str,
    },
    /// A lock, a serialisation failure or a full pool: the same work may succeed at once.
    #[error("contention")]
    #[fault(Unavailable, "unavailable", text = UNAVAILABLE)]
    Contention(#[source] BoxError),
    /// The database is not there now.
    #[error("storage unavailable")]
    #[fault(Unavailable, "unavailable", text = UNAVAILABLE)]
    Unavailable(#[source] BoxError),
    /// The file of the database is damaged: nothing is read or written any more, until it is restored.
    #[error("{DAMAGED}")]
    #[fault(Unavailable, "unavailable", text = UNAVAILABLE)]
    Damaged(#[source] BoxError),
    /// The stored value cannot be read.
    #[error("stored {entity} cannot be read: {reason}")]
    #[fault(Internal, "internal", text = INTERNAL)]
    Corrupt {
        /// The kind of row.
        entity: &'static str,
        /// Why the value cannot be read.
        reason: String,
    },
    /// Anything else: a fault of ours or of the database.
    #[error("storage failed")]
    #[fault(Internal, "internal", text = INTERNAL)]
    Other(#[source] BoxError),
}

/// The text of [`StorageError::Damaged`].
pub const DAMAGED: &str = "the database is damaged";

/// A source that callers do not branch on.
pub type BoxError = Box<dyn std::error::Error + Send + Sync + 'static>;

impl StorageError {
    /// Returns whether the same work may succeed when retried.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Stale { .. } | Self::Contention(_) | Self::Unavailable(_) | Self::Damaged(_))
    }

    /// Returns whether another writer came first: the same work, done anew, may succeed at once.
    pub fn is_lost_race(&self) -> bool {
        matches!(self, Self::Stale { .. } | Self::Contention(_))
    }
}

/// Shows an error with all its sources on one line, for logs.
pub struct Chain<'a>(pub &'a (dyn std::error::Error + 'a));

impl fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut last = self.0.to_string();
        f.write_str(&last)?;
        let mut source = self.0.source();
        while let Some(error) = source {
            let text = error.to_string();
            // Errors of libraries often end with the text of their source.
            if !last.ends_with(&text) {
                write!(f, ": {text}")?;
            }
            last = text;
            source = error.source();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{text}")]
    struct Layer {
        text: &'static str,
        source: Option<Box<Layer>>,
    }

    #[test]
    fn a_chain_does_not_repeat_its_sources() {
        let layer = |text, source: Option<Layer>| Layer { text, source: source.map(Box::new) };
        let refused = || layer("refused (os error 111)", None);
        let doubled = layer("connect: refused (os error 111)", Some(refused()));
        assert_eq!(Chain(&doubled).to_string(), "connect: refused (os error 111)");
        let told = layer("no database", Some(layer("refused (os error 111)", Some(refused()))));
        assert_eq!(Chain(&told).to_string(), "no database: refused (os error 111)");
        assert_eq!(Chain(&layer("a", Some(layer("b", None)))).to_string(), "a: b");
    }
}
