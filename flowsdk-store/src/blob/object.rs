//! Contents in a store of objects, such as S3.

use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use flowsdk_core::fault::BoxError;
use flowsdk_core::media::{BlobStore, Content, MediaId};
use futures_util::StreamExt as _;
use object_store::aws::AmazonS3Builder;
use object_store::buffered::BufWriter;
use object_store::path::Path;
use object_store::{Error, GetOptions, GetRange, ObjectStore, ObjectStoreExt as _};
use tokio::io::AsyncWriteExt as _;

/// Keeps contents as objects below a prefix.
#[derive(Debug, Clone)]
pub struct ObjectBlobs {
    objects: Arc<dyn ObjectStore>,
    prefix: Path,
}

impl ObjectBlobs {
    /// Keeps contents in `objects`, below `prefix`.
    pub fn new(objects: Arc<dyn ObjectStore>, prefix: &str) -> Self {
        Self { objects, prefix: Path::from(prefix) }
    }

    /// Keeps contents in an S3 bucket below `prefix`. Account, region and endpoint are those of the environment:
    /// `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_REGION`, `AWS_ENDPOINT_URL`, `AWS_ALLOW_HTTP`.
    ///
    /// # Errors
    /// They do not suffice, or are not usable.
    pub fn s3(bucket: &str, prefix: &str) -> Result<Self, BoxError> {
        let objects = AmazonS3Builder::from_env().with_bucket_name(bucket).build()?;
        Ok(Self::new(Arc::new(objects), prefix))
    }

    fn path(&self, id: &MediaId) -> Path {
        self.prefix.clone().join(id.as_str())
    }
}

#[async_trait]
impl BlobStore for ObjectBlobs {
    async fn put(&self, id: &MediaId, mut content: Content) -> Result<(), BoxError> {
        // A small one is one call, a large one several.
        let mut writer = BufWriter::new(Arc::clone(&self.objects), self.path(id));
        while let Some(piece) = content.next().await {
            let written = match piece {
                Ok(piece) => writer.put(piece).await.map_err(BoxError::from),
                Err(error) => Err(error),
            };
            if let Err(error) = written {
                // What is there of it is of no use. Where this fails too, the store forgets it by its own rules.
                drop(writer.abort().await);
                return Err(error);
            }
        }
        Ok(writer.shutdown().await?)
    }

    async fn get(&self, id: &MediaId, range: Range<u64>) -> Result<Option<Content>, BoxError> {
        if range.is_empty() {
            return match self.objects.head(&self.path(id)).await {
                Ok(_) => Ok(Some(flowsdk_core::media::whole(Vec::new()))),
                Err(Error::NotFound { .. }) => Ok(None),
                Err(error) => Err(error.into()),
            };
        }
        let options = GetOptions { range: Some(GetRange::Bounded(range)), ..GetOptions::default() };
        match self.objects.get_opts(&self.path(id), options).await {
            Ok(found) => Ok(Some(found.into_stream().map(|piece| piece.map_err(BoxError::from)).boxed())),
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    async fn delete(&self, id: &MediaId) -> Result<(), BoxError> {
        match self.objects.delete(&self.path(id)).await {
            Ok(()) | Err(Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}
