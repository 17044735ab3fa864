//! Files that contacts have sent, at the provider of a channel.

use std::fmt::Debug;

use async_trait::async_trait;

use super::{Refusal, SendingAccount};
use crate::fault::BoxError;
use crate::media::Content;

/// The content of a file at the provider.
pub struct ProviderFile {
    /// Its SHA-256 in hexadecimal digits, where the provider tells it.
    pub sha256: Option<String>,
    /// The content.
    pub content: Content,
}

impl Debug for ProviderFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProviderFile").field("sha256", &self.sha256).finish_non_exhaustive()
    }
}

/// Why a file is not had.
#[derive(Debug, thiserror::Error)]
pub enum MediaSourceError {
    /// The provider does not have it, or the account has no right to it.
    #[error("the provider does not have the file")]
    Gone,
    /// It has more bytes than are kept.
    #[error("the file is too large")]
    TooLarge,
    /// The provider refuses it.
    #[error("refused with code {}", .0.error.code)]
    Refused(Refusal),
    /// The file is said to be at a place that may not see the token of the account.
    #[error("the file is said to be at {0}, which is none of the provider's hosts")]
    ForeignHost(String),
    /// The provider gave no answer of use.
    #[error("the provider gave no answer of use")]
    Unreached(#[source] BoxError),
}

/// Reads files that contacts have sent.
#[async_trait]
pub trait MediaSource: Send + Sync + Debug {
    /// Opens a file of at most `most` bytes by the provider's id. Whoever reads the content stops at this size, too: what the
    /// provider says of it may be wrong.
    ///
    /// # Errors
    /// [`MediaSourceError`].
    async fn open(
        &self,
        account: &SendingAccount,
        id: &str,
        most: u64,
    ) -> Result<ProviderFile, MediaSourceError>;
}
