//! Why a use case of import drafts fails.

use crate::fault::{Fault, StorageError};
use crate::idempotency::IdempotencyConflict;
use crate::router::RouterUnknown;
use crate::text::Text;
use crate::transfer::TransferError;

/// The reason why a use case of import drafts fails.
#[derive(Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum ImportDraftError {
    /// No such draft within reach, or it has expired.
    #[error("no such import draft")]
    #[fault(
        NotFound,
        "not_found",
        pt = "Rascunho de importação não encontrado",
        en = "Import draft not found"
    )]
    NotFound,
    /// No such router to import into.
    #[error(transparent)]
    #[fault(transparent)]
    RouterUnknown(#[from] RouterUnknown),
    /// The router has as many drafts as it may have.
    #[error("too many drafts")]
    #[fault(
        Conflict,
        "too_many_drafts",
        pt = "O roteador já tem o máximo de rascunhos de importação",
        en = "The router has as many import drafts as it may have"
    )]
    TooMany,
    /// The file was imported already.
    #[error("applied already")]
    #[fault(
        Conflict,
        "draft_applied",
        pt = "O rascunho já foi aplicado",
        en = "The draft was applied already"
    )]
    Applied,
    /// The check found errors: where, and why.
    #[error("draft with errors")]
    #[fault(
        Conflict, "draft_invalid",
        pt = "O rascunho tem erros e não pode ser aplicado", en = "The draft has errors and cannot be applied",
        details = .0.clone()
    )]
    Invalid(Vec<(String, Text)>),
    /// The import would do something else than the draft shows: each difference.
    #[error("the router changed")]
    #[fault(
        Conflict, "draft_stale",
        pt = "O roteador mudou desde a verificação; envie o arquivo de novo",
        en = "The router has changed since the check; send the file again",
        details = .0.clone()
    )]
    Stale(Vec<(String, Text)>),
    /// The import itself failed.
    #[error(transparent)]
    #[fault(transparent)]
    Transfer(#[from] TransferError),
    /// The request was repeated with other content.
    #[error(transparent)]
    #[fault(transparent)]
    Idempotency(#[from] IdempotencyConflict),
    /// Storage failed.
    #[error("storage failed")]
    #[fault(transparent)]
    Storage(#[from] StorageError),
}
