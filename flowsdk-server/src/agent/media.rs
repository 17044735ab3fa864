//! The files that contacts send to AI agents, from where contents are kept.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use flowsdk_agent::executor::{Media, ReadableFile};
use flowsdk_agent::turn::MediaFault;
use flowsdk_channels::phone::sending::HasOutbound as _;
use flowsdk_core::fault::{Chain, StorageError};
use flowsdk_core::media::{Blobs, HasMedia as _, MediaFailure, MediaFile, MediaId, MediaKind, MediaStatus};
use flowsdk_core::session::SessionId;
use flowsdk_core::store::Store as _;
use flowsdk_store::sql::SqlStore;
use futures_util::TryStreamExt as _;
use tokio::time::Instant;

/// How long a file is waited for that is still fetched from its channel.
const WAIT: Duration = Duration::from_secs(15);
/// How often it is looked for meanwhile.
const POLL: Duration = Duration::from_millis(250);

/// Reads contents of files of contacts.
pub(crate) struct StoredMedia {
    store: Arc<SqlStore>,
    blobs: Blobs,
}

impl fmt::Debug for StoredMedia {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredMedia").finish_non_exhaustive()
    }
}

/// How a file stands.
#[derive(Debug, PartialEq, Eq)]
enum Stand {
    Here(ReadableFile),
    /// It is fetched from this number.
    Coming(Option<String>),
    Lost(MediaFault),
}

impl StoredMedia {
    /// Creates a reader of the files of `store`, whose contents are in `blobs`.
    pub(crate) fn new(store: Arc<SqlStore>, blobs: Blobs) -> Self {
        Self { store, blobs }
    }

    async fn stand(&self, session: &SessionId, id: &MediaId) -> Result<Stand, StorageError> {
        let found = self.store.read().await?.media().find(id).await?;
        Ok(found.map_or(Stand::Lost(MediaFault::NotFetched), |file| stand_of(file, session)))
    }

    /// Returns whether a number has no access token, without which nothing is fetched from it.
    async fn lacks_token(&self, number: String) -> Result<bool, StorageError> {
        let numbers = self.store.read().await?.outbound().numbers(&[number]).await?;
        Ok(numbers.iter().all(|number| number.access_token.is_none()))
    }

    async fn wait(&self, session: &SessionId, id: &MediaId) -> Result<Stand, StorageError> {
        let until = Instant::now() + WAIT;
        loop {
            let stand = self.stand(session, id).await?;
            let Stand::Coming(number) = stand else { return Ok(stand) };
            if let Some(number) = number
                && self.lacks_token(number).await?
            {
                return Ok(Stand::Lost(MediaFault::NoCredentials));
            }
            if Instant::now() >= until {
                return Ok(Stand::Lost(MediaFault::NotFetched));
            }
            tokio::time::sleep(POLL).await;
        }
    }
}

fn stand_of(file: MediaFile, session: &SessionId) -> Stand {
    if file.session_id.as_ref() != Some(session) {
        return Stand::Lost(MediaFault::NotFetched);
    }
    match (file.status, file.size) {
        (MediaStatus::Stored, Some(size)) if file.is_there() => {
            Stand::Here(ReadableFile { id: file.id, mime_type: file.mime_type, size })
        }
        (MediaStatus::Pending, _) => Stand::Coming(file.phone_number_id),
        _ => Stand::Lost(match file.failure {
            Some(MediaFailure::Gone | MediaFailure::Refused) => MediaFault::NoAddress,
            Some(MediaFailure::TooLarge) => MediaFault::TooLarge(file.size.unwrap_or(MediaKind::MOST)),
            Some(MediaFailure::Damaged | MediaFailure::Unreachable) | None => MediaFault::NotFetched,
        }),
    }
}

#[async_trait]
impl Media for StoredMedia {
    async fn find(&self, session: &SessionId, file: &MediaId) -> Result<ReadableFile, MediaFault> {
        let stand = self.wait(session, file).await.map_err(|error| {
            tracing::warn!(%file, error = %Chain(&error), "a file for an AI agent is not found");
            MediaFault::Unexpected
        })?;
        match stand {
            Stand::Here(file) => Ok(file),
            Stand::Coming(_) => Err(MediaFault::NotFetched),
            Stand::Lost(fault) => Err(fault),
        }
    }

    async fn read(&self, file: &ReadableFile) -> Result<Vec<u8>, MediaFault> {
        let read = async {
            let Some(content) = self.blobs.get(&file.id, 0..file.size).await? else { return Ok(None) };
            content
                .try_fold(Vec::new(), |mut read, piece| async move {
                    read.extend_from_slice(&piece);
                    Ok(read)
                })
                .await
                .map(Some)
        };
        match read.await {
            Ok(Some(bytes)) => Ok(bytes),
            Ok(None) => Err(MediaFault::NotFetched),
            Err(error) => {
                tracing::warn!(file = %file.id, error = %Chain(&*error), "a file for an AI agent is not read");
                Err(MediaFault::NotFetched)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use flowsdk_core::context::OpContext;
    use flowsdk_core::media::MediaOrigin;

    use super::*;

    #[test]
    fn a_file_is_of_its_session_and_says_what_became_of_it() {
        let ana = SessionId::parse("wa-111-5511").expect("an id");
        let router = "r".parse().expect("an id");
        let new = MediaFile::new(&OpContext::system(), router, MediaOrigin::Contact, MediaKind::Audio);
        let file = |status, size, failure| MediaFile {
            session_id: Some(ana.clone()),
            message_id: Some("m".parse().expect("an id")),
            phone_number_id: Some("111".to_owned()),
            status,
            size,
            failure,
            ..new.clone()
        };
        let here = file(MediaStatus::Stored, Some(7), None);
        let readable = ReadableFile { id: here.id.clone(), mime_type: None, size: 7 };
        assert_eq!(stand_of(here.clone(), &ana), Stand::Here(readable));
        let eva = SessionId::parse("wa-111-5522").expect("an id");
        assert_eq!(stand_of(here, &eva), Stand::Lost(MediaFault::NotFetched));
        let coming = file(MediaStatus::Pending, None, None);
        assert_eq!(stand_of(coming, &ana), Stand::Coming(Some("111".to_owned())));
        for (status, size, failure, fault) in [
            (MediaStatus::Failed, None, Some(MediaFailure::Gone), MediaFault::NoAddress),
            (MediaStatus::Failed, None, Some(MediaFailure::Refused), MediaFault::NoAddress),
            (MediaStatus::Failed, None, Some(MediaFailure::Damaged), MediaFault::NotFetched),
            (MediaStatus::Failed, None, Some(MediaFailure::Unreachable), MediaFault::NotFetched),
            (MediaStatus::Failed, Some(9), Some(MediaFailure::TooLarge), MediaFault::TooLarge(9)),
            (MediaStatus::Failed, None, Some(MediaFailure::TooLarge), MediaFault::TooLarge(100 << 20)),
            (MediaStatus::Expired, Some(9), None, MediaFault::NotFetched),
        ] {
            assert_eq!(stand_of(file(status, size, failure), &ana), Stand::Lost(fault), "{failure:?}");
        }
    }
}
