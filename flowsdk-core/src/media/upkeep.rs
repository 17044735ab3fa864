//! Deletes the contents of files that nobody names any more, or whose time is over.

use std::sync::Arc;
use std::time::Duration;

use super::{Blobs, HasMedia, MediaError, MediaId, MediaOutcome};
use crate::context::OpContext;
use crate::store::{Store, Transaction as _};

/// How long a file of a visitor waits for its message.
const WAITS_FOR: Duration = Duration::from_hours(24);
/// Files of one step.
const STEP: u32 = 100;

/// Deletes contents. It is called again and again.
#[derive(Debug)]
pub struct MediaUpkeep<S> {
    store: Arc<S>,
    blobs: Blobs,
    cx: OpContext,
    retention: Option<Duration>,
}

impl<S: Store> MediaUpkeep<S>
where
    S::Tx: HasMedia,
{
    /// Creates an upkeep of `store` and `blobs`; files of contacts are kept for `retention`, or as long as their messages.
    pub fn new(store: Arc<S>, blobs: Blobs, cx: OpContext, retention: Option<Duration>) -> Self {
        Self { store, blobs, cx, retention }
    }

    /// Deletes what is to go now; returns of how many files. An idempotent tick.
    ///
    /// # Errors
    /// Contents or rows cannot be deleted now; some are gone.
    pub async fn tick(&self) -> Result<usize, MediaError> {
        let now = self.cx.now();
        let mut deleted = 0;
        if let Err(error) = self.blobs.sweep().await {
            tracing::warn!(%error, "parts of contents are left");
        }
        loop {
            let ids = self.store.read().await?.media().orphans(now - WAITS_FOR, STEP).await?;
            if ids.is_empty() {
                break;
            }
            let (gone, left) = self.delete(ids).await;
            let mut tx = self.store.begin().await?;
            tx.media().delete_many(&gone).await?;
            tx.commit().await?;
            deleted += gone.len();
            left?;
        }
        let Some(retention) = self.retention else { return Ok(deleted) };
        loop {
            let ids = self.store.read().await?.media().older(now - retention, STEP).await?;
            if ids.is_empty() {
                return Ok(deleted);
            }
            let (gone, left) = self.delete(ids).await;
            let mut tx = self.store.begin().await?;
            deleted += gone.len();
            let expired: Vec<_> = gone.into_iter().map(|id| (id, MediaOutcome::Expired)).collect();
            tx.media().note(&expired, now).await?;
            tx.commit().await?;
            left?;
        }
    }

    /// Deletes contents, and returns the files whose content is gone, and why another one is not. Contents go before their
    /// rows: a crash in between leaves a row, which says what to delete.
    async fn delete(&self, ids: Vec<MediaId>) -> (Vec<MediaId>, Result<(), MediaError>) {
        let (mut gone, mut left) = (Vec::with_capacity(ids.len()), Ok(()));
        for id in ids {
            match self.blobs.delete(&id).await {
                Ok(()) => gone.push(id),
                Err(error) => left = Err(MediaError::Blobs(error)),
            }
        }
        (gone, left)
    }
}
