//! Why a use case that asks the provider for templates fails.

use flowsdk_core::channel::SendError;
use flowsdk_core::crypto::CipherError;
use flowsdk_core::fault::{Fault, StorageError};
use flowsdk_core::message::StatusError;
use flowsdk_core::router::RouterUnknown;
use flowsdk_core::text::Text;

use super::TemplateError;

/// The reason why a use case that asks the provider failed.
#[derive(Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum SyncError {
    /// No such router.
    #[error(transparent)]
    #[fault(transparent)]
    RouterUnknown(#[from] RouterUnknown),
    /// No number of the account in the router has a token that can be read.
    #[error("no access token")]
    #[fault(
        Unprocessable,
        "no_access_token",
        pt = "Nenhum número desta conta tem um token de acesso",
        en = "No number of this account has an access token",
        field = "businessAccountId"
    )]
    NoToken,
    /// The provider has the template already.
    #[error("submitted already")]
    #[fault(
        Conflict,
        "already_submitted",
        pt = "O provedor já tem este modelo",
        en = "The provider has this template already"
    )]
    AlreadySubmitted,
    /// The provider refuses it: its code and words.
    #[error("the provider refuses it with code {}", .0.code)]
    #[fault(
        Unprocessable,
        "provider_refused",
        pt = "O provedor recusou",
        en = "The provider refused it",
        details = refusal(.0)
    )]
    Refused(StatusError),
    /// The provider cannot be reached.
    #[error("the provider is not reached")]
    #[fault(
        BadGateway,
        "provider_unreachable",
        pt = "O provedor não respondeu",
        en = "The provider did not answer"
    )]
    Unreached(#[source] SendError),
    /// The provider may have done it.
    #[error("the answer of the provider was lost")]
    #[fault(
        GatewayTimeout,
        "provider_unanswered",
        pt = "A resposta do provedor se perdeu; sincronize os modelos",
        en = "The answer of the provider was lost; synchronise the templates"
    )]
    Unanswered(#[source] SendError),
    /// The record is not there, or cannot be stored.
    #[error(transparent)]
    #[fault(transparent)]
    Template(#[from] TemplateError),
    /// The database failed; see the source.
    #[error("storage failed")]
    #[fault(transparent)]
    Storage(#[from] StorageError),
}

impl From<SendError> for SyncError {
    fn from(error: SendError) -> Self {
        match error {
            SendError::Refused(refusal) => Self::Refused(refusal.error),
            error @ SendError::Unanswered(_) => Self::Unanswered(error),
            error @ (SendError::Unreached(_) | SendError::Unsendable(_)) => Self::Unreached(error),
        }
    }
}

impl From<CipherError> for SyncError {
    fn from(_: CipherError) -> Self {
        Self::NoToken
    }
}

fn refusal(error: &StatusError) -> Vec<(String, Text)> {
    let words = error.title.clone().unwrap_or_default();
    let text = format!("{}: {words}", error.code);
    vec![("provider".to_owned(), Text::of(text.clone(), text))]
}
