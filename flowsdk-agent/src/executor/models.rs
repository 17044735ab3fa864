//! The port of whoever opens the models of a credential.

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
use flowsdk_core::credential::LlmCredential;

use crate::model::{ModelError, ModelProvider};

/// Opens the models of credentials.
#[async_trait]
pub trait Models: Debug + Send + Sync {
    /// Returns the provider of a credential.
    ///
    /// # Errors
    /// [`ModelError::Account`]: the credential has no key, or no address.
    async fn open(&self, credential: &LlmCredential) -> Result<Arc<dyn ModelProvider>, ModelError>;
}
