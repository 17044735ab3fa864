//! Storage of the rows of files.

use async_trait::async_trait;

use super::{MediaFailure, MediaFile, MediaId, MediaStatus, StoredBlob};
use crate::fault::StorageError;
use crate::id::{MessageId, RouterId};
use crate::page::{Page, PageRequest};
use crate::router::{Reach, Reachable};
use crate::time::Timestamp;

/// What became of the content of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MediaOutcome {
    /// It is here.
    Stored(StoredBlob),
    /// It is tried again then.
    Again(Timestamp),
    /// It is not tried again.
    Failed(MediaFailure),
    /// It was deleted.
    Expired,
}

/// The files that a page shows; an absent field restricts nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MediaFilter {
    /// Those of this router.
    pub router_id: Option<RouterId>,
    /// Those whose content stands so.
    pub status: Option<MediaStatus>,
}

impl Reachable for MediaFilter {
    fn is_within(&self, reach: Reach<'_>) -> bool {
        self.router_id.is_within(reach)
    }
}

/// Files of one transaction.
#[async_trait]
pub trait MediaRepository: Send {
    /// Stores new files.
    async fn insert_many(&mut self, files: &[MediaFile]) -> Result<(), StorageError>;

    /// Returns a file.
    async fn find(&mut self, id: &MediaId) -> Result<Option<MediaFile>, StorageError>;

    /// Returns those of these files that there are.
    async fn find_many(&mut self, ids: &[MediaId]) -> Result<Vec<MediaFile>, StorageError>;

    /// Returns the files that these messages brought.
    async fn of_messages(&mut self, messages: &[MessageId]) -> Result<Vec<MediaFile>, StorageError>;

    /// Returns a page of files, newest first; of the routers in `only`, if it is given.
    async fn list(
        &mut self,
        filter: &MediaFilter,
        only: Option<&[RouterId]>,
        page: &PageRequest,
    ) -> Result<Page<MediaFile>, StorageError>;

    /// Notes the messages that bring files. The first message of a file counts.
    async fn attach(&mut self, files: &[(MediaId, MessageId)]) -> Result<(), StorageError>;

    /// Returns up to `limit` files that are to be fetched by `now`, those that are due the longest first.
    async fn due(&mut self, now: Timestamp, limit: u32) -> Result<Vec<MediaFile>, StorageError>;

    /// Notes what became of the contents of files, and returns those of which it counts: a file that is no longer pending
    /// can only expire.
    async fn note(
        &mut self,
        outcomes: &[(MediaId, MediaOutcome)],
        now: Timestamp,
    ) -> Result<Vec<MediaId>, StorageError>;

    /// Returns up to `limit` files that nobody names any more: those of contacts without a message, those of visitors that
    /// were not sent before `before`, and those of deleted routers.
    async fn orphans(&mut self, before: Timestamp, limit: u32) -> Result<Vec<MediaId>, StorageError>;

    /// Returns up to `limit` files of contacts and visitors whose content is here and which came before `before`, oldest first.
    async fn older(&mut self, before: Timestamp, limit: u32) -> Result<Vec<MediaId>, StorageError>;

    /// Deletes files.
    async fn delete_many(&mut self, ids: &[MediaId]) -> Result<(), StorageError>;
}

/// A transaction with files.
pub trait HasMedia: Send {
    /// Returns the repository of this transaction.
    fn media(&mut self) -> &mut dyn MediaRepository;
}
