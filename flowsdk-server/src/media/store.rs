//! Where the contents of files are kept, as the configuration says.

use std::sync::Arc;

use flowsdk_core::fault::BoxError;
use flowsdk_core::media::Blobs;
use flowsdk_store::blob::FolderBlobs;
use flowsdk_store::memory::MemoryBlobs;

use crate::config::MediaStore;

/// Returns the store of contents.
///
/// # Errors
/// It cannot be set up with the environment of the process.
pub(crate) fn blobs(store: &MediaStore) -> Result<Blobs, BoxError> {
    Ok(match store {
        MediaStore::Memory => Arc::new(MemoryBlobs::default()),
        MediaStore::Folder { path, keep_free } => Arc::new(FolderBlobs::new(path).keeping_free(*keep_free)),
        #[cfg(feature = "s3")]
        MediaStore::S3 { bucket, prefix } => Arc::new(flowsdk_store::blob::ObjectBlobs::s3(bucket, prefix)?),
        #[cfg(not(feature = "s3"))]
        MediaStore::S3 { .. } => return Err("this server is built without the feature s3".into()),
    })
}
