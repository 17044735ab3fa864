//! What every [`BlobStore`] has to do.

#![allow(clippy::expect_used, reason = "a failed expectation is a failed test")]

use bytes::Bytes;
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};

use crate::context::OpContext;
use crate::fault::BoxError;
use crate::media::{BlobError, BlobStore, MediaId, store_blob, whole};

async fn read(blobs: &dyn BlobStore, id: &MediaId, range: std::ops::Range<u64>) -> Option<Vec<u8>> {
    let content = blobs.get(id, range).await.expect("it is asked for")?;
    let pieces: Vec<Bytes> = content.try_collect().await.expect("it is read");
    Some(pieces.concat())
}

/// Holds that a store keeps contents as the port says.
///
/// # Panics
/// It does not.
pub async fn blobs_are_kept(blobs: &dyn BlobStore) {
    let cx = OpContext::system();
    let (id, other) = (MediaId::generate(cx.ids()), MediaId::generate(cx.ids()));
    assert_eq!(read(blobs, &id, 0..1).await, None);
    blobs.delete(&id).await.expect("what is not there is deleted");

    // Larger than the pieces in which stores pass contents on.
    let large: Vec<u8> = (0..12_000_000_u32).map(|n| (n % 251) as u8).collect();
    let pieces: Vec<Result<Bytes, BoxError>> =
        large.chunks(70_001).map(|piece| Ok(Bytes::copy_from_slice(piece))).collect();
    let stored = store_blob(blobs, &id, stream::iter(pieces).boxed(), 12_000_000).await.expect("it is kept");
    assert_eq!((stored.size, stored.sha256.len()), (12_000_000, 64));
    blobs.put(&other, whole(&b"other"[..])).await.expect("it is kept");
    assert!(read(blobs, &id, 0..12_000_000).await.as_deref() == Some(&large));
    for range in [0..1, 5_999_999..6_000_001, 11_999_999..12_000_000, 7..7] {
        let expected = &large[range.start as usize..range.end as usize];
        assert_eq!(read(blobs, &id, range.clone()).await.as_deref(), Some(expected), "{range:?}");
    }

    // What is not kept leaves what was kept before.
    let broken =
        || stream::iter([Ok(Bytes::from_static(b"half")), Err(BoxError::from("it breaks off"))]).boxed();
    let refused = store_blob(blobs, &id, broken(), 100).await;
    assert!(matches!(refused, Err(BlobError::Source(_))), "{refused:?}");
    let refused = store_blob(blobs, &id, whole(&b"seven !"[..]), 6).await;
    assert!(matches!(refused, Err(BlobError::TooLarge { most: 6 })), "{refused:?}");
    assert_eq!(read(blobs, &id, 0..3).await.as_deref(), Some(&large[..3]));

    let stored = store_blob(blobs, &id, whole(&b"abc"[..]), 3).await.expect("it is replaced");
    assert_eq!(stored.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_eq!(read(blobs, &id, 0..3).await.as_deref(), Some(&b"abc"[..]));
    blobs.delete(&id).await.expect("it is deleted");
    assert_eq!(read(blobs, &id, 0..3).await, None);
    assert_eq!(read(blobs, &other, 0..5).await.as_deref(), Some(&b"other"[..]));
}
