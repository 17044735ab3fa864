//! Storage of what documents hold. The documents themselves are records.

use std::fmt::Debug;

use async_trait::async_trait;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::RouterId;
use flowsdk_core::time::Timestamp;

use super::{Document, DocumentId, Embedding, KnowledgeQuery, Passage};

/// A document that is to be worked on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueDocument {
    /// The document.
    pub document: Document,
    /// How often its next step has been tried.
    pub attempts: u32,
}

/// What documents hold, in one transaction.
#[async_trait]
pub trait KnowledgeRepository: Send {
    /// Returns how many documents a router has.
    async fn count(&mut self, router: &RouterId) -> Result<u64, StorageError>;

    /// Stores the content of a document, instead of any that it had.
    async fn put_content(&mut self, document: &DocumentId, content: &[u8]) -> Result<(), StorageError>;

    /// Returns the content of a document.
    async fn content(&mut self, document: &DocumentId) -> Result<Option<Vec<u8>>, StorageError>;

    /// Notes when a document is to be worked on, and how often that was tried; `None` is never.
    async fn set_due(
        &mut self,
        document: &DocumentId,
        due: Option<Timestamp>,
        attempts: u32,
    ) -> Result<(), StorageError>;

    /// Returns documents that are to be worked on now, those first that have waited the longest. Those of `but_of` are left
    /// out.
    async fn due(
        &mut self,
        now: Timestamp,
        limit: u32,
        but_of: &[RouterId],
    ) -> Result<Vec<DueDocument>, StorageError>;

    /// Stores the passages of a document, without vectors, instead of any that it had.
    async fn put_chunks(&mut self, document: &DocumentId, texts: &[String]) -> Result<(), StorageError>;

    /// Returns the texts of passages from this position on, in order.
    async fn texts(
        &mut self,
        document: &DocumentId,
        from: u32,
        limit: u32,
    ) -> Result<Vec<(u32, String)>, StorageError>;

    /// Stores the vectors of passages.
    async fn put_embeddings(
        &mut self,
        document: &DocumentId,
        embeddings: &[(u32, Embedding)],
    ) -> Result<(), StorageError>;

    /// Returns each router with ready documents, with each model of their vectors.
    async fn models_in_use(&mut self) -> Result<Vec<(RouterId, String)>, StorageError>;

    /// Has the ready documents of a router that were embedded by this model embedded anew, from now on.
    async fn embed_anew(
        &mut self,
        router: &RouterId,
        model: &str,
        now: Timestamp,
    ) -> Result<(), StorageError>;

    /// Returns the passages nearest to a query, the nearest first. Only ready documents are searched.
    async fn nearest(&mut self, query: &KnowledgeQuery<'_>) -> Result<Vec<Passage>, StorageError>;
}

/// A transaction with what documents hold.
pub trait HasKnowledge: Send {
    /// Returns the repository of this transaction.
    fn knowledge(&mut self) -> &mut dyn KnowledgeRepository;
}

/// What a store keeps beside the vectors of passages, so that the nearest are found without reading all of them.
#[async_trait]
pub trait VectorIndex: Debug + Send + Sync {
    /// Does the next part of what is to be done. Returns whether there is more. It may take minutes, and may be given up at
    /// any moment; a later call goes on. Searches find the same before, only slower.
    ///
    /// # Errors
    /// [`StorageError`]: what is done stays.
    async fn tend(&self) -> Result<bool, StorageError>;
}

/// Of stores that keep nothing beside the vectors.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoVectorIndex;

#[async_trait]
impl VectorIndex for NoVectorIndex {
    async fn tend(&self) -> Result<bool, StorageError> {
        Ok(false)
    }
}
