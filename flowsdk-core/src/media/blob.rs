//! The contents of files: the port, and how a content is measured while it is written.

use std::fmt::Debug;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::stream::{self, BoxStream, StreamExt as _};
use sha2::{Digest as _, Sha256};

use super::MediaId;
use crate::fault::BoxError;

/// A content, piece by piece.
pub type Content = BoxStream<'static, Result<Bytes, BoxError>>;

/// Returns the content of these bytes.
pub fn whole(bytes: impl Into<Bytes>) -> Content {
    stream::iter([Ok(bytes.into())]).boxed()
}

/// Why a content is not stored.
#[derive(Debug, thiserror::Error)]
pub enum BlobError {
    /// It has more bytes than it may.
    #[error("more than {most} bytes")]
    TooLarge {
        /// Most bytes.
        most: u64,
    },
    /// Where it comes from fails.
    #[error("the content breaks off")]
    Source(#[source] BoxError),
    /// Where contents are kept fails.
    #[error("contents cannot be kept now")]
    Storage(#[source] BoxError),
}

/// A content that is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredBlob {
    /// Its bytes.
    pub size: u64,
    /// Its SHA-256, in hexadecimal digits.
    pub sha256: String,
}

/// Keeps contents by the ids of their files.
#[async_trait]
pub trait BlobStore: Send + Sync + Debug {
    /// Keeps a content, in place of one of the same id. Whoever reads gets all of it or none: when this returns it is there
    /// as a whole, also after a power cut. A content that ends with an error is not kept.
    ///
    /// # Errors
    /// The error of the content, or of the store.
    async fn put(&self, id: &MediaId, content: Content) -> Result<(), BoxError>;

    /// Returns bytes of a content, which has at least as many; `None`, if there is no content.
    ///
    /// # Errors
    /// The store fails.
    async fn get(&self, id: &MediaId, range: Range<u64>) -> Result<Option<Content>, BoxError>;

    /// Deletes a content. One that is not there is no error.
    ///
    /// # Errors
    /// The store fails.
    async fn delete(&self, id: &MediaId) -> Result<(), BoxError>;

    /// Deletes parts of contents that processes have left which were killed. An idempotent tick. By default a store has none.
    ///
    /// # Errors
    /// The store fails.
    async fn sweep(&self) -> Result<(), BoxError> {
        Ok(())
    }
}

/// Where contents are kept.
pub type Blobs = Arc<dyn BlobStore>;

/// What passed by on its way into a store.
#[derive(Default)]
struct Meter {
    size: u64,
    digest: Sha256,
    is_too_large: bool,
    has_broken: bool,
}

/// Keeps a content of at most `most` bytes, and measures it.
///
/// # Errors
/// [`BlobError`].
pub async fn store_blob(
    blobs: &dyn BlobStore,
    id: &MediaId,
    content: Content,
    most: u64,
) -> Result<StoredBlob, BlobError> {
    let meter = Arc::new(Mutex::new(Meter::default()));
    let measured = {
        let meter = Arc::clone(&meter);
        content.map(move |piece| {
            let mut meter = meter.lock().unwrap_or_else(PoisonError::into_inner);
            let piece = piece.inspect_err(|_| meter.has_broken = true)?;
            meter.size += piece.len() as u64;
            if meter.size > most {
                meter.is_too_large = true;
                return Err("the content is too large".into());
            }
            meter.digest.update(&piece);
            Ok(piece)
        })
    };
    let kept = blobs.put(id, measured.boxed()).await;
    let meter = std::mem::take(&mut *meter.lock().unwrap_or_else(PoisonError::into_inner));
    match kept {
        Ok(()) => Ok(StoredBlob { size: meter.size, sha256: hex::encode(meter.digest.finalize()) }),
        Err(_) if meter.is_too_large => Err(BlobError::TooLarge { most }),
        Err(error) if meter.has_broken => Err(BlobError::Source(error)),
        Err(error) => Err(BlobError::Storage(error)),
    }
}
