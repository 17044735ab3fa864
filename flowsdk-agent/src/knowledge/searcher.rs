//! Searches.

use std::sync::Arc;
use std::time::Duration;

use flowsdk_core::credential::HasLlmCredentials;
use flowsdk_core::id::RouterId;
use flowsdk_core::router::HasRouters;
use flowsdk_core::store::Store;

use tokio::sync::Semaphore;

use super::embedders::credential_of;
use super::{Embedders, Embedding, HasKnowledge, KnowledgeError, KnowledgeQuery, Passage};
use crate::model::{Embedded, ModelError, Used};

/// How long the vector of a query is waited for.
const PATIENCE: Duration = Duration::from_secs(20);

/// Searches that read vectors at once. Each reads all of its router over a connection of the database.
const READINGS: usize = 4;

/// What a search found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The passages, the nearest first.
    pub passages: Vec<Passage>,
    /// What the vector of the text used; `None` where no model was asked.
    pub used: Option<Used>,
}

/// Finds passages by what they say.
#[derive(Debug)]
pub struct KnowledgeSearch<S> {
    store: Arc<S>,
    embedders: Arc<dyn Embedders>,
    /// Each reading of vectors takes a permit.
    readings: Semaphore,
}

impl<S: Store> KnowledgeSearch<S>
where
    S::Tx: HasKnowledge + HasRouters + HasLlmCredentials,
{
    /// Creates a search over `store`, which has queries embedded by `embedders`.
    pub fn new(store: Arc<S>, embedders: Arc<dyn Embedders>) -> Self {
        Self { store, embedders, readings: Semaphore::new(READINGS) }
    }

    /// Finds the passages of a router's documents with one of these tags that are nearest to a text. No transaction is open
    /// while the model is asked. What it used is for the caller to note.
    ///
    /// # Errors
    /// [`KnowledgeError::Embedder`], [`KnowledgeError::Storage`].
    pub async fn search(
        &self,
        router_id: &RouterId,
        tags: &[String],
        text: &str,
        limit: usize,
    ) -> Result<Found, KnowledgeError> {
        let credential = credential_of(&mut self.store.read().await?, router_id).await?;
        let opened = self.embedders.open(credential.as_ref()).await?;
        let texts = [text.to_owned()];
        let embedded = tokio::time::timeout(PATIENCE, opened.embedder.embed(&texts)).await;
        let embedded = embedded.unwrap_or_else(|_| Err(ModelError::unavailable("no answer in time")))?;
        let Embedded { mut vectors, used } = embedded;
        let no_vector = || ModelError::Unreadable { reason: "no vector of the text".to_owned() };
        let vector = Embedding::normalised(vectors.pop().ok_or_else(no_vector)?);
        let query = KnowledgeQuery { router_id, tags, model: &opened.model, vector: &vector, limit };
        let _permit = self.readings.acquire().await;
        let passages = self.store.read().await?.knowledge().nearest(&query).await?;
        Ok(Found { passages, used })
    }
}
