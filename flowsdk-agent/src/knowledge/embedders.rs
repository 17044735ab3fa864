//! The port of whoever opens the model that turns texts into vectors.

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
use flowsdk_core::credential::{HasLlmCredentials, LlmCredential};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::RouterId;
use flowsdk_core::router::HasRouters;

use super::{HASHING, HashingEmbedder};
use crate::model::{Embedder, ModelError};

/// A model that turns texts into vectors of [`DIMENSIONS`](super::DIMENSIONS).
#[derive(Debug, Clone)]
pub struct OpenEmbedder {
    /// The name of its vectors. Vectors of different names are never compared.
    pub model: String,
    /// The model.
    pub embedder: Arc<dyn Embedder>,
}

impl OpenEmbedder {
    /// Returns the one that asks no model: [`HashingEmbedder`].
    pub fn hashing() -> Self {
        Self { model: HASHING.to_owned(), embedder: Arc::new(HashingEmbedder) }
    }

    /// Returns whether it asks no model, so that nobody is paid.
    pub fn is_hashing(&self) -> bool {
        self.model == HASHING
    }
}

/// Opens the models of routers that turn texts into vectors.
#[async_trait]
pub trait Embedders: Debug + Send + Sync {
    /// Returns the model of a router with this credential.
    ///
    /// # Errors
    /// [`ModelError::Account`]: the credential has no key, or no address.
    async fn open(&self, credential: Option<&LlmCredential>) -> Result<OpenEmbedder, ModelError>;
}

/// Opens [`HashingEmbedder`] for every router.
#[derive(Debug, Clone, Copy, Default)]
pub struct OfflineEmbedders;

#[async_trait]
impl Embedders for OfflineEmbedders {
    async fn open(&self, _: Option<&LlmCredential>) -> Result<OpenEmbedder, ModelError> {
        Ok(OpenEmbedder::hashing())
    }
}

/// Returns the credential of a router, if it has one.
pub(super) async fn credential_of<X: HasRouters + HasLlmCredentials>(
    tx: &mut X,
    router: &RouterId,
) -> Result<Option<LlmCredential>, StorageError> {
    let router = tx.routers().find(router).await?;
    match router.and_then(|router| router.llm_credential_id) {
        Some(id) => tx.llm_credentials().find(&id).await,
        None => Ok(None),
    }
}
