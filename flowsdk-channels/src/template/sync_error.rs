//! Why a use case that asks the provider for templates fails.

use flowsdk_core::channel::SendError;
use flowsdk_core::crypto::CipherError;
use flowsdk_core::fault::{Fault, StorageError};
use flowsdk_core::router::RouterUnknown;

use super::TemplateError;
use crate::ProviderFault;

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
    /// The provider has not done it.
    #[error(transparent)]
    #[fault(transparent)]
    Provider(#[from] ProviderFault),
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
        Self::Provider(error.into())
    }
}

impl From<CipherError> for SyncError {
    fn from(_: CipherError) -> Self {
        Self::NoToken
    }
}
