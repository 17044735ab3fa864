//! The stores of contents do as the port says.

use flowsdk_core::testkit::blobs::blobs_are_kept;
use flowsdk_store::blob::FolderBlobs;
use flowsdk_store::memory::MemoryBlobs;

#[tokio::test]
async fn in_memory() {
    blobs_are_kept(&MemoryBlobs::default()).await;
}

#[tokio::test]
async fn in_a_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    blobs_are_kept(&FolderBlobs::new(folder.path())).await;
}

#[cfg(feature = "s3")]
mod objects {
    use std::sync::Arc;

    use flowsdk_store::blob::ObjectBlobs;
    use object_store::memory::InMemory;

    use super::*;

    #[tokio::test]
    async fn in_a_store_of_objects() {
        blobs_are_kept(&ObjectBlobs::new(Arc::new(InMemory::new()), "some/prefix")).await;
    }

    /// A bucket of an S3 server is named by `FLOWSDK_TEST_S3_BUCKET`, with the environment of its account.
    #[allow(clippy::print_stderr, reason = "who runs the tests sees what was not tried")]
    #[tokio::test]
    async fn in_s3() {
        let Ok(bucket) = std::env::var("FLOWSDK_TEST_S3_BUCKET") else {
            eprintln!("skipped: no FLOWSDK_TEST_S3_BUCKET");
            return;
        };
        blobs_are_kept(&ObjectBlobs::s3(&bucket, "tests").expect("an account")).await;
    }
}
