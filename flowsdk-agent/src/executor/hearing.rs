//! What agents hear: recordings are transcribed before a model is asked.

use std::sync::Arc;

use flowsdk_core::credential::LlmCredential;
use flowsdk_core::media::MediaId;
use flowsdk_core::store::Store;
use futures_util::stream::{self, StreamExt as _};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, timeout_at};

use super::asking::note_account;
use super::equipping::OpenTurn;
use super::{Executor, ExecutorTx};
use crate::model::{ModelError, Speech, Transcribed, jitter};
use crate::turn::{MAX_MEDIA, MediaFault, Unheard};
use crate::usage::{ModelCall, ModelWork};

/// Recordings of a turn that are transcribed at once.
const AT_ONCE: usize = 4;
/// Most KiB of recordings and images that all turns hold at once.
const ROOM: usize = 128 << 10;

/// Bounds the memory that contents of files take.
#[derive(Debug, Clone)]
pub(super) struct Room(pub(super) Arc<Semaphore>);

impl Default for Room {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(ROOM)))
    }
}

impl Room {
    /// Returns the permits for so many bytes.
    pub(super) fn permits(bytes: u64) -> u32 {
        u32::try_from(bytes.div_ceil(1 << 10).max(1)).unwrap_or(u32::MAX).min(ROOM as u32)
    }

    async fn take(&self, bytes: u64) -> Option<SemaphorePermit<'_>> {
        self.0.acquire_many(Self::permits(bytes)).await.ok()
    }
}

impl<S: Store> Executor<S>
where
    S::Tx: ExecutorTx,
{
    /// Transcribes the recordings of a turn. Those that take too long have failed. Returns what is said in each, and the calls
    /// of the model.
    pub(super) async fn transcribe(
        &self,
        turn: &OpenTurn,
        unheard: &Unheard,
    ) -> (Vec<Result<String, MediaFault>>, Vec<ModelCall>) {
        let until = Instant::now() + self.settings.hearing_time;
        let each = |file: Option<&MediaId>| {
            let file = file.cloned();
            async move {
                let Some(file) = file else { return Err(MediaFault::NotFetched) };
                let transcribed = timeout_at(until, self.transcribe_one(turn, &file)).await;
                let transcribed = transcribed.unwrap_or(Err(MediaFault::Unexpected));
                if let Err(fault) = &transcribed {
                    tracing::warn!(turn = %turn.record.id, %file, ?fault, "a recording is not heard by an AI agent");
                }
                transcribed
            }
        };
        let each: Vec<_> = unheard.recordings().map(each).collect();
        let transcribed: Vec<Result<Transcribed, MediaFault>> =
            stream::iter(each).buffered(AT_ONCE).collect().await;
        let used = transcribed.iter().flatten().filter_map(|one| one.used.clone());
        let call = |used| {
            let (router, agent) = (turn.record.router_id.clone(), turn.record.agent_id.clone());
            ModelCall::of_work(ModelWork::Transcription, router, Some(agent), used, &self.cx)
        };
        let calls = used.map(call).collect();
        (transcribed.into_iter().map(|one| one.map(|said| said.text)).collect(), calls)
    }

    async fn transcribe_one(&self, turn: &OpenTurn, file: &MediaId) -> Result<Transcribed, MediaFault> {
        let Some(credential) = &turn.credentials[0] else { return Err(MediaFault::Unexpected) };
        let found = self.media.find(&turn.session.id, file).await?;
        if found.size > MAX_MEDIA {
            return Err(MediaFault::TooLarge(found.size));
        }
        let _room = self.room.take(found.size).await.ok_or(MediaFault::Unexpected)?;
        let bytes = self.media.read(&found).await?;
        let mime_type = found.mime_type.unwrap_or_else(|| "audio/ogg".to_owned());
        let heard = self.ask_transcriber(turn, credential, Speech { bytes, mime_type }).await;
        heard.map_err(|error| {
            if let ModelError::Account { .. } = &error {
                note_account(turn, Some(credential), &error);
            }
            tracing::warn!(turn = %turn.record.id, %error, "a recording is not transcribed");
            MediaFault::Unexpected
        })
    }

    async fn ask_transcriber(
        &self,
        turn: &OpenTurn,
        credential: &LlmCredential,
        speech: Speech,
    ) -> Result<Transcribed, ModelError> {
        let transcriber = self.models.transcriber(credential).await?;
        let mut failures = 0;
        loop {
            let error = match transcriber.transcribe(speech.clone()).await {
                Ok(said) => return Ok(said),
                Err(error) => error,
            };
            failures += 1;
            let spent = self.cx.now().since(turn.record.began_at);
            let Some(pause) = self.settings.patience.pause(&error, failures, spent, jitter()) else {
                return Err(error);
            };
            tokio::time::sleep(pause).await;
        }
    }
}
