//! Storage of import drafts.

use async_trait::async_trait;

use super::{CheckedDraft, DraftCheck, ImportDraft, ImportDraftId};
use crate::fault::StorageError;
use crate::id::RouterId;
use crate::page::{Page, PageRequest};
use crate::time::Timestamp;

/// Which drafts are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DraftFilter {
    /// Those of this router.
    pub router_id: Option<RouterId>,
    /// Those that have not expired by then.
    pub now: Timestamp,
}

/// Import drafts of one transaction. They are deleted with their router.
#[async_trait]
pub trait ImportDraftRepository: Send {
    /// Returns a page of drafts, newest first; of the routers in `only`, if they are given.
    async fn list(
        &mut self,
        filter: &DraftFilter,
        only: Option<&[RouterId]>,
        page: &PageRequest,
    ) -> Result<Page<ImportDraft>, StorageError>;

    /// Returns a draft, expired or not.
    async fn find(&mut self, id: &ImportDraftId) -> Result<Option<ImportDraft>, StorageError>;

    /// Returns a draft, locked until the end of the transaction.
    async fn find_for_update(&mut self, id: &ImportDraftId) -> Result<Option<ImportDraft>, StorageError>;

    /// Returns the number of drafts of a router that have not expired by `now`.
    async fn count(&mut self, router: &RouterId, now: Timestamp) -> Result<i64, StorageError>;

    /// Returns the file of a draft, as JSON.
    async fn file(&mut self, id: &ImportDraftId) -> Result<Option<String>, StorageError>;

    /// Returns the result of the check of a draft.
    async fn check(&mut self, id: &ImportDraftId) -> Result<Option<DraftCheck>, StorageError>;

    /// Creates a draft with its file, as JSON.
    async fn insert(&mut self, draft: &CheckedDraft, file: &str) -> Result<(), StorageError>;

    /// Rewrites the status of a draft, and when it was applied.
    async fn save(&mut self, draft: &ImportDraft) -> Result<(), StorageError>;

    /// Deletes a draft with its file.
    async fn delete(&mut self, id: &ImportDraftId) -> Result<(), StorageError>;

    /// Deletes drafts that have expired by `now`, at most `limit`, and returns their number.
    async fn purge(&mut self, now: Timestamp, limit: u32) -> Result<u64, StorageError>;
}

/// A transaction with import drafts.
pub trait HasImportDrafts: Send {
    /// Returns the repository of this transaction.
    fn import_drafts(&mut self) -> &mut dyn ImportDraftRepository;
}
