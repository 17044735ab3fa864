//! Fetches the files that contacts send by phone. Texts never wait for it: the row of a file is written with its message.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use flowsdk_core::channel::{MediaSource, MediaSourceError, RefusalClass, SendingAccount};
use flowsdk_core::context::OpContext;
use flowsdk_core::crypto::MasterKey;
use flowsdk_core::fault::{BoxError, Chain, StorageError};
use flowsdk_core::media::{
    BlobError, Blobs, HasMedia, MediaFailure, MediaFile, MediaId, MediaKind, MediaOutcome, StoredBlob,
    store_blob,
};
use flowsdk_core::store::{Store, Transaction as _};
use flowsdk_core::time::Timestamp;
use tokio::task::{Id, JoinSet};
use tokio_util::sync::CancellationToken;

use super::sending::HasOutbound;

/// Most files that are fetched at once.
const AT_ONCE: usize = 8;
/// How often the rows are looked at.
const POLL: Duration = Duration::from_millis(500);
/// How long the provider keeps a file of a contact (WhatsApp Cloud API, "Media").
const KEPT_FOR: Duration = Duration::from_hours(7 * 24);
/// How long a file is asked for that the provider does not have: it says the same to a token without a right to the file,
/// which somebody may mend.
const MISSED_FOR: Duration = Duration::from_hours(24);
/// The pause after the first failure; each further one doubles it.
const FIRST_PAUSE: Duration = Duration::from_secs(5);
const LONGEST_PAUSE: Duration = Duration::from_hours(1);
/// Attempts after which a wrong digest counts as that of the file itself.
const WRONG_DIGESTS: u32 = 4;

/// Why a file was not fetched.
#[derive(Debug, thiserror::Error)]
enum FetchError {
    #[error("the number has no access token that can be read")]
    NoAccount,
    #[error(transparent)]
    Source(#[from] MediaSourceError),
    #[error("its digest is not the one that the provider tells")]
    Digest,
    #[error("more bytes than are kept")]
    TooLarge,
    #[error("the content was not kept")]
    Content(#[source] BoxError),
}

/// Fetches the files of every number. One runs at a time.
#[derive(Debug)]
pub struct MediaFetcher<S> {
    store: Arc<S>,
    source: Arc<dyn MediaSource>,
    blobs: Blobs,
    key: Arc<MasterKey>,
    cx: OpContext,
}

/// What one run of the fetcher knows.
#[derive(Default)]
struct Run {
    fetches: JoinSet<(MediaFile, Result<StoredBlob, FetchError>)>,
    under_way: HashMap<MediaId, Id>,
    /// Outcomes that are not written yet.
    finished: Vec<(MediaId, MediaOutcome)>,
}

impl<S: Store> MediaFetcher<S>
where
    S::Tx: HasMedia + HasOutbound,
{
    /// Creates a fetcher of the files of `store`, which reads them from `source` and keeps their contents in `blobs`.
    pub fn new(
        store: Arc<S>,
        source: Arc<dyn MediaSource>,
        blobs: Blobs,
        key: Arc<MasterKey>,
        cx: OpContext,
    ) -> Self {
        Self { store, source, blobs, key, cx }
    }

    /// Fetches until it is told to stop. What is under way then is fetched anew by the next run.
    pub async fn run(&self, stop: &CancellationToken) {
        let mut run = Run::default();
        while !stop.is_cancelled() {
            if let Err(error) = self.round(&mut run).await {
                tracing::warn!(error = %Chain(&error), "files of contacts are not fetched now");
            }
            tokio::select! {
                () = stop.cancelled() => {}
                Some(ended) = run.fetches.join_next() => self.take(&mut run, ended),
                () = tokio::time::sleep(POLL) => {}
            }
        }
    }

    async fn round(&self, run: &mut Run) -> Result<(), StorageError> {
        while let Some(ended) = run.fetches.try_join_next() {
            self.take(run, ended);
        }
        self.write_finished(run).await?;
        let room = AT_ONCE.saturating_sub(run.under_way.len());
        if room == 0 {
            return Ok(());
        }
        let mut tx = self.store.read().await?;
        // Those that are under way are due, too.
        let mut due = tx.media().due(self.cx.now(), 2 * AT_ONCE as u32).await?;
        due.retain(|file| !run.under_way.contains_key(&file.id));
        due.truncate(room);
        if due.is_empty() {
            return Ok(());
        }
        let numbers: BTreeSet<&String> =
            due.iter().filter_map(|file| file.phone_number_id.as_ref()).collect();
        let numbers: Vec<String> = numbers.into_iter().cloned().collect();
        let states = tx.outbound().numbers(&numbers).await?;
        drop(tx);
        let accounts: HashMap<String, SendingAccount> = states
            .into_iter()
            .filter_map(|state| Some((state.phone_number_id.clone(), state.account(&self.key)?)))
            .collect();
        for file in due {
            let id = file.id.clone();
            let account = file.phone_number_id.as_ref().and_then(|number| accounts.get(number)).cloned();
            let (source, blobs) = (Arc::clone(&self.source), Arc::clone(&self.blobs));
            let fetch = run.fetches.spawn(async move {
                let fetched = fetch(&*source, &blobs, account, &file).await;
                (file, fetched)
            });
            run.under_way.insert(id, fetch.id());
        }
        Ok(())
    }

    fn take(
        &self,
        run: &mut Run,
        ended: Result<(MediaFile, Result<StoredBlob, FetchError>), tokio::task::JoinError>,
    ) {
        match ended {
            Ok((file, fetched)) => {
                let outcome = outcome(&file, fetched, self.cx.now());
                run.finished.push((file.id, outcome));
            }
            Err(error) => {
                tracing::error!(%error, "a file of a contact was not fetched: its task ended early");
                run.under_way.retain(|_, fetch| *fetch != error.id());
            }
        }
    }

    /// Writes what became of files. Until it has succeeded they are kept.
    async fn write_finished(&self, run: &mut Run) -> Result<(), StorageError> {
        if run.finished.is_empty() {
            return Ok(());
        }
        let mut tx = self.store.begin().await?;
        tx.media().note(&run.finished, self.cx.now()).await?;
        let ids: Vec<_> = run.finished.iter().map(|(id, _)| id.clone()).collect();
        let files = tx.media().find_many(&ids).await?;
        tx.commit().await?;
        // If the answer of an earlier commit was lost, this round notes nothing; the rows tell whose content counts.
        let kept: HashSet<_> = files.iter().filter(|file| file.is_there()).map(|file| &file.id).collect();
        for (id, outcome) in run.finished.drain(..) {
            run.under_way.remove(&id);
            let is_unwanted = matches!(outcome, MediaOutcome::Stored(_)) && !kept.contains(&id);
            if is_unwanted && let Err(error) = self.blobs.delete(&id).await {
                tracing::warn!(%error, file = %id, "the content of a file that was deleted meanwhile is left");
            }
        }
        Ok(())
    }
}

async fn fetch(
    source: &dyn MediaSource,
    blobs: &Blobs,
    account: Option<SendingAccount>,
    file: &MediaFile,
) -> Result<StoredBlob, FetchError> {
    let account = account.ok_or(FetchError::NoAccount)?;
    let provider_id = file.provider_id.as_deref().unwrap_or_default();
    let found = source.open(&account, provider_id, MediaKind::MOST).await?;
    let stored = store_blob(&**blobs, &file.id, found.content, MediaKind::MOST).await;
    let stored = stored.map_err(|error| match error {
        BlobError::TooLarge { .. } => FetchError::TooLarge,
        BlobError::Source(error) | BlobError::Storage(error) => FetchError::Content(error),
    })?;
    if found.sha256.is_some_and(|sha256| sha256 != stored.sha256) {
        blobs.delete(&file.id).await.map_err(FetchError::Content)?;
        return Err(FetchError::Digest);
    }
    Ok(stored)
}

/// Returns what becomes of a file after an attempt.
fn outcome(file: &MediaFile, fetched: Result<StoredBlob, FetchError>, now: Timestamp) -> MediaOutcome {
    let error = match fetched {
        Ok(stored) => {
            metrics::counter!("flowsdk_media_fetches", "outcome" => "stored").increment(1);
            return MediaOutcome::Stored(stored);
        }
        Err(error) => error,
    };
    let failure = failure_of(&error, file, now);
    let again_at = now + pause(file.attempts);
    let failure = failure.or((again_at >= file.created_at + KEPT_FOR).then_some(MediaFailure::Unreachable));
    let name = if failure.is_some() { "failed" } else { "retried" };
    metrics::counter!("flowsdk_media_fetches", "outcome" => name).increment(1);
    tracing::warn!(file = %file.id, error = %Chain(&error), attempts = file.attempts + 1, name, "a file of a contact is not here");
    failure.map_or(MediaOutcome::Again(again_at), MediaOutcome::Failed)
}

/// Returns why a file is not tried again; `None`, if it is. Who administers the number may mend what is wrong with the
/// account.
fn failure_of(error: &FetchError, file: &MediaFile, now: Timestamp) -> Option<MediaFailure> {
    match error {
        FetchError::TooLarge | FetchError::Source(MediaSourceError::TooLarge) => Some(MediaFailure::TooLarge),
        FetchError::Source(MediaSourceError::Gone) => {
            (now >= file.created_at + MISSED_FOR).then_some(MediaFailure::Gone)
        }
        FetchError::Source(MediaSourceError::ForeignHost(_)) => Some(MediaFailure::Refused),
        FetchError::Source(MediaSourceError::Refused(refusal)) => {
            (refusal.class == RefusalClass::Permanent).then_some(MediaFailure::Refused)
        }
        FetchError::Digest => (file.attempts + 1 >= WRONG_DIGESTS).then_some(MediaFailure::Damaged),
        FetchError::NoAccount
        | FetchError::Content(_)
        | FetchError::Source(MediaSourceError::Unreached(_)) => None,
    }
}

/// Returns the pause after a failure, where there were as many before.
fn pause(failures: u32) -> Duration {
    FIRST_PAUSE.saturating_mul(1 << failures.min(16)).min(LONGEST_PAUSE)
}

#[cfg(test)]
mod tests {
    use flowsdk_core::channel::Refusal;
    use flowsdk_core::id::RouterId;
    use flowsdk_core::media::MediaOrigin;
    use flowsdk_core::message::StatusError;

    use super::*;

    fn file(attempts: u32) -> MediaFile {
        let router = RouterId::parse("r").expect("an id");
        let new = MediaFile::new(&OpContext::system(), router, MediaOrigin::Contact, MediaKind::Image);
        MediaFile { attempts, created_at: Timestamp::from_millis(0), ..new }
    }

    fn refused(class: RefusalClass) -> FetchError {
        let error = StatusError { code: 1, title: None };
        FetchError::Source(MediaSourceError::Refused(Refusal { error, class, retry_after: None }))
    }

    #[test]
    fn what_passes_is_tried_again_for_as_long_as_the_provider_keeps_the_file() {
        let unreached = || FetchError::Source(MediaSourceError::Unreached("away".into()));
        let at = |hours: u64| Timestamp::from_millis(0) + Duration::from_hours(hours);
        let after = |attempts, error, now| outcome(&file(attempts), Err(error), now);
        assert_eq!(after(0, unreached(), at(1)), MediaOutcome::Again(at(1) + FIRST_PAUSE));
        assert_eq!(after(3, unreached(), at(1)), MediaOutcome::Again(at(1) + FIRST_PAUSE * 8));
        assert_eq!(after(40, unreached(), at(1)), MediaOutcome::Again(at(2)));
        assert_eq!(after(40, unreached(), at(167)), MediaOutcome::Failed(MediaFailure::Unreachable));
        for error in [FetchError::NoAccount, refused(RefusalClass::Account), refused(RefusalClass::Throttled)]
        {
            assert_eq!(after(0, error, at(0)), MediaOutcome::Again(at(0) + FIRST_PAUSE));
        }
        assert_eq!(after(2, FetchError::Digest, at(0)), MediaOutcome::Again(at(0) + FIRST_PAUSE * 4));
        let gone = || FetchError::Source(MediaSourceError::Gone);
        assert_eq!(after(40, gone(), at(23)), MediaOutcome::Again(at(24)));
        assert_eq!(after(40, gone(), at(24)), MediaOutcome::Failed(MediaFailure::Gone));
    }

    #[test]
    fn what_does_not_pass_is_not() {
        for (error, failure) in [
            (FetchError::TooLarge, MediaFailure::TooLarge),
            (FetchError::Source(MediaSourceError::TooLarge), MediaFailure::TooLarge),
            (FetchError::Source(MediaSourceError::ForeignHost("x".to_owned())), MediaFailure::Refused),
            (refused(RefusalClass::Permanent), MediaFailure::Refused),
        ] {
            let found = outcome(&file(0), Err(error), Timestamp::from_millis(0));
            assert_eq!(found, MediaOutcome::Failed(failure));
        }
        let found = outcome(&file(3), Err(FetchError::Digest), Timestamp::from_millis(0));
        assert_eq!(found, MediaOutcome::Failed(MediaFailure::Damaged));
    }
}
