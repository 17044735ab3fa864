//! The in-process [`BlobStore`].

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use flowsdk_core::fault::BoxError;
use flowsdk_core::media::{BlobStore, Content, MediaId, whole};
use futures_util::StreamExt as _;

/// Contents in this process. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct MemoryBlobs(Arc<Mutex<HashMap<MediaId, Arc<[u8]>>>>);

impl MemoryBlobs {
    fn contents(&self) -> MutexGuard<'_, HashMap<MediaId, Arc<[u8]>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl BlobStore for MemoryBlobs {
    async fn put(&self, id: &MediaId, mut content: Content) -> Result<(), BoxError> {
        let mut bytes = Vec::new();
        while let Some(piece) = content.next().await {
            bytes.extend_from_slice(&piece?);
        }
        self.contents().insert(id.clone(), bytes.into());
        Ok(())
    }

    async fn get(&self, id: &MediaId, range: Range<u64>) -> Result<Option<Content>, BoxError> {
        let Some(bytes) = self.contents().get(id).cloned() else { return Ok(None) };
        let place = |place: u64| usize::try_from(place).unwrap_or(usize::MAX).min(bytes.len());
        let (start, end) = (place(range.start), place(range.end));
        Ok(Some(whole(bytes[start.min(end)..end].to_vec())))
    }

    async fn delete(&self, id: &MediaId) -> Result<(), BoxError> {
        self.contents().remove(id);
        Ok(())
    }
}
