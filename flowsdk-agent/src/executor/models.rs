//! The port of whoever opens the models of a credential.

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
use flowsdk_core::credential::LlmCredential;

use crate::model::{ModelError, ModelProvider, Transcriber};

/// Opens the models of credentials.
#[async_trait]
pub trait Models: Debug + Send + Sync {
    /// Returns the provider of a credential.
    ///
    /// # Errors
    /// [`ModelError::Account`]: the credential has no key, or no address.
    async fn open(&self, credential: &LlmCredential) -> Result<Arc<dyn ModelProvider>, ModelError>;

    /// Returns the model of a credential that turns speech into text. By default there is none.
    ///
    /// # Errors
    /// [`ModelError::Account`]: the credential has no key, or no address; [`ModelError::Refused`]: there is no such model.
    async fn transcriber(&self, _: &LlmCredential) -> Result<Arc<dyn Transcriber>, ModelError> {
        Err(ModelError::Refused { reason: "there is no model that hears".to_owned() })
    }
}

/// Opens the same model for every credential.
#[derive(Debug, Clone)]
pub struct OneModel(pub Arc<dyn ModelProvider>);

#[async_trait]
impl Models for OneModel {
    async fn open(&self, _: &LlmCredential) -> Result<Arc<dyn ModelProvider>, ModelError> {
        Ok(Arc::clone(&self.0))
    }
}
