//! The port of whoever has the files that contacts send.

use std::fmt::Debug;

use async_trait::async_trait;
use flowsdk_core::media::MediaId;
use flowsdk_core::session::SessionId;

use crate::turn::MediaFault;

/// A file whose content can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadableFile {
    /// Its id.
    pub id: MediaId,
    /// Its media type, such as `audio/ogg`; `None` if nobody knows it.
    pub mime_type: Option<String>,
    /// Bytes of its content.
    pub size: u64,
}

/// Has the files that contacts send.
#[async_trait]
pub trait Media: Debug + Send + Sync {
    /// Returns a file that the contact of `session` sent. One that is still fetched from its channel is waited for, for some
    /// seconds.
    ///
    /// # Errors
    /// [`MediaFault`]; [`MediaFault::NotFetched`] also for a file of another session.
    async fn find(&self, session: &SessionId, file: &MediaId) -> Result<ReadableFile, MediaFault>;

    /// Returns the content of a file.
    ///
    /// # Errors
    /// [`MediaFault`].
    async fn read(&self, file: &ReadableFile) -> Result<Vec<u8>, MediaFault>;
}

/// Has no files.
#[derive(Debug, Clone, Copy)]
pub(super) struct NoMedia;

#[async_trait]
impl Media for NoMedia {
    async fn find(&self, _: &SessionId, _: &MediaId) -> Result<ReadableFile, MediaFault> {
        Err(MediaFault::NotFetched)
    }

    async fn read(&self, _: &ReadableFile) -> Result<Vec<u8>, MediaFault> {
        Err(MediaFault::NotFetched)
    }
}
