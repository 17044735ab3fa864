//! The turns that are under way.

use std::sync::Arc;
use std::time::Duration;

use flowsdk_core::context::OpContext;
use flowsdk_core::conversation::{Handover, ToolCalls};
use flowsdk_core::fault::{Chain, StorageError};
use flowsdk_core::lease::Tenure;
use flowsdk_core::session::SessionId;
use flowsdk_core::store::{Store, Transaction as _};
use flowsdk_core::time::Timestamp;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use super::budgets::Budgets;
use super::equipping::KnownEquipment;
use super::groups::Groups;
use super::hearing::Room;
use super::media::NoMedia;
use super::opening::Opened;
use super::saving::Written;
use super::serving::Serving;
use super::under_way::{Served, UnderWay};
use super::writing::{Advanced, Taken};
use super::{ExecutorTx, Media, Models, spans};
use crate::inbox::{HasInbox as _, Urgency, Waiting};
use crate::knowledge::{Embedders, KnowledgeSearch, OfflineEmbedders};
use crate::ledger::HasAgentTurns as _;
use crate::model::Patience;

/// Most turns at once.
const MOST_TURNS: u32 = 4_096;
/// Most events that a round looks at.
const LOOKED_AT: u32 = 16_384;
/// How often the inbox is looked at when nobody says that there is something.
const POLL: Duration = Duration::from_millis(200);
/// How long the inbox is not looked at for each event that waited there: a long list is read for a part of the time only.
const COST_OF_EVENT: Duration = Duration::from_micros(10);
/// How often turns are looked for that run and that nobody has under way.
const REVIEW: Duration = Duration::from_secs(5);
/// How long events are known that were taken: an entry of the stream is not delivered again after it.
const KNOWN_FOR: Duration = Duration::from_secs(24 * 60 * 60);
/// How long turns are kept (rulings G5).
const KEPT_FOR: Duration = Duration::from_hours(30 * 24);
/// Events and turns that are forgotten at once.
const FORGOTTEN: u32 = 5_000;
/// Groups of each kind that are written at once, where the store can: while one waits for the database, another is worked out.
const WRITERS: usize = 2;
/// How long a stop waits for models that are asked: their answers are paid for.
const LAST_ANSWERS: Duration = Duration::from_secs(15);

/// How an executor works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// How long a contact has to be quiet before what they wrote is answered. Messages until then are one turn (rulings S15).
    pub quiet: Duration,
    /// The longest wait for that.
    pub longest_burst: Duration,
    /// How often models are asked again.
    pub patience: Patience,
    /// How long a flow of kind `tool`, or a search, may take.
    pub tool_time: Duration,
    /// How long a turn waits for its recordings and images.
    pub hearing_time: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            quiet: Duration::from_millis(1_500),
            longest_burst: Duration::from_secs(10),
            patience: Patience::default(),
            tool_time: Duration::from_secs(30),
            hearing_time: Duration::from_mins(1),
        }
    }
}

/// Runs the turns of AI agents.
pub struct Executor<S> {
    pub(super) store: Arc<S>,
    pub(super) cx: OpContext,
    pub(super) models: Arc<dyn Models>,
    pub(super) tools: ToolCalls<S>,
    pub(super) knowledge: KnowledgeSearch<S>,
    pub(super) handover: Handover,
    pub(super) settings: Settings,
    pub(super) arrived: Arc<Notify>,
    pub(super) budgets: Budgets,
    pub(super) equipment: KnownEquipment,
    pub(super) tenure: Tenure,
    pub(super) media: Arc<dyn Media>,
    pub(super) room: Room,
    /// The sessions whose turns are to be opened.
    pub(super) openings: Groups<SessionId, Opened>,
    /// The steps that are to be written.
    pub(super) steps: Groups<Taken, Option<Written>>,
    pub(super) serving: Serving,
}

impl<S> std::fmt::Debug for Executor<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Executor").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl<S: Store> Executor<S>
where
    S::Tx: ExecutorTx,
{
    /// Creates an executor over `store`, which looks at the inbox when `arrived` rings. It asks `models`, calls `tools`, and
    /// passes messages on by `handover`.
    pub fn new(
        store: Arc<S>,
        cx: OpContext,
        models: Arc<dyn Models>,
        tools: ToolCalls<S>,
        handover: Handover,
        settings: Settings,
        arrived: Arc<Notify>,
    ) -> Self {
        let knowledge = KnowledgeSearch::new(Arc::clone(&store), Arc::new(OfflineEmbedders));
        let (budgets, tenure) = (Budgets::default(), Tenure::unlimited());
        let (media, room) = (Arc::new(NoMedia), Room::default());
        let writers = if store.has_one_writer() { 1 } else { WRITERS };
        Self {
            store,
            cx,
            models,
            tools,
            knowledge,
            handover,
            settings,
            arrived,
            budgets,
            equipment: KnownEquipment::default(),
            tenure,
            media,
            room,
            openings: Groups::new(writers),
            steps: Groups::new(writers),
            serving: Serving::default(),
        }
    }

    /// Asks no model and calls no tool while `tenure` is not held: another process may run the turns then. What is under way
    /// goes on, and is written unless another process has written meanwhile.
    #[must_use]
    pub fn within(self, tenure: Tenure) -> Self {
        Self { tenure, ..self }
    }

    /// Has recordings transcribed and images shown that `media` has. Without it none can be fetched.
    #[must_use]
    pub fn with_media(self, media: Arc<dyn Media>) -> Self {
        Self { media, ..self }
    }

    /// Has the queries of searches embedded by `embedders`, who are those of the documents. Without them
    /// [`OfflineEmbedders`] are asked.
    #[must_use]
    pub fn with_embedders(mut self, embedders: Arc<dyn Embedders>) -> Self {
        self.knowledge = KnowledgeSearch::new(Arc::clone(&self.store), embedders);
        self
    }

    /// Works until it is told to stop, and waits a while for the turns that are under way then. What has not ended by then
    /// goes on in the next run.
    pub async fn run(self: &Arc<Self>, stop: &CancellationToken) {
        let mut turns = UnderWay::default();
        let mut reviewed_at = None;
        while !stop.is_cancelled() {
            let pause = self.round(&mut turns, &mut reviewed_at).await.unwrap_or_else(|error| {
                tracing::warn!(error = %Chain(&error), "AI agents answer nobody now");
                Duration::ZERO
            });
            tokio::select! {
                () = stop.cancelled() => {}
                () = self.arrived.notified() => {}
                () = turns.next() => {}
                () = tokio::time::sleep(POLL) => {}
            }
            // Turns that end in a row are followed by one look at the inbox.
            tokio::time::sleep(pause.max(self.serving.gathering())).await;
        }
        self.budgets.forget();
        if tokio::time::timeout(LAST_ANSWERS, turns.all()).await.is_err() {
            tracing::warn!(turns = turns.len(), "turns of AI agents go on in the next run");
        }
    }

    /// Begins what is to be done. Returns how long to wait at least before the next round: what waits is read anew each time.
    async fn round(
        self: &Arc<Self>,
        turns: &mut UnderWay,
        reviewed_at: &mut Option<Timestamp>,
    ) -> Result<Duration, StorageError> {
        turns.note_ended();
        let now = self.cx.now();
        if reviewed_at.is_none_or(|at| now >= at + REVIEW || now < at) {
            for session in self.store.read().await?.agent_turns().sessions_running(MOST_TURNS).await? {
                self.begin_task(turns, session, None);
            }
            self.forget(now).await?;
            self.try_review().await;
            *reviewed_at = Some(now);
        }
        let waiting = self.store.glance().await?.inbox().waiting(LOOKED_AT).await?;
        let cost = COST_OF_EVENT.saturating_mul(u32::try_from(waiting.len()).unwrap_or(u32::MAX));
        for waiting in Waiting::of(waiting) {
            if let Some(at) = waiting.interrupted_at {
                turns.interrupt(&waiting.session_id, at);
            }
            if self.is_due(&waiting, now) {
                self.begin_task(turns, waiting.session_id, waiting.interrupted_at);
            }
        }
        Ok(cost.min(POLL))
    }

    /// Forgets the keys of old events, and old turns.
    async fn forget(&self, now: Timestamp) -> Result<(), StorageError> {
        let mut tx = self.store.begin().await?;
        tx.inbox().forget(now - KNOWN_FOR, FORGOTTEN).await?;
        tx.agent_turns().forget(now - KEPT_FOR, FORGOTTEN).await?;
        tx.commit().await
    }

    fn is_due(&self, waiting: &Waiting, now: Timestamp) -> bool {
        let Settings { quiet, longest_burst, .. } = self.settings;
        waiting.urgency != Urgency::Quiet
            || now >= waiting.until + quiet
            || now >= waiting.since + longest_burst
    }

    fn begin_task(self: &Arc<Self>, turns: &mut UnderWay, session: SessionId, knows: Option<Timestamp>) {
        if turns.len() >= MOST_TURNS as usize || !turns.may_begin(&session) {
            return;
        }
        let (executor, served) = (Arc::clone(self), session.clone());
        turns.begin(session, knows, |stop| async move {
            executor.serve(&served, &stop).await.unwrap_or_else(|error| {
                tracing::warn!(session = %served, error = %Chain(&error), "a turn of an AI agent is tried again");
                Served::NotNow
            })
        });
    }

    /// Does what waits for a session: ends its part, or runs one turn to its end. When `stop` is cancelled, the model or the
    /// tool that the turn waits for is left; the turn ends with what takes the session from it.
    ///
    /// # Errors
    /// [`StorageError`]: what is written stays, and the rest can be done again.
    pub async fn serve(&self, session: &SessionId, stop: &CancellationToken) -> Result<Served, StorageError> {
        let _served = self.serving.enter();
        let mut turn = match self.open(session).await? {
            Opened::NotNow => return Ok(Served::NotNow),
            Opened::Over(sent) => {
                self.pass_on(sent);
                return Ok(Served::Done);
            }
            Opened::Turn(turn, sent) => {
                self.pass_on(sent);
                turn
            }
        };
        let span = spans::invoke_agent(&turn);
        while turn.record.is_running {
            let advanced;
            (turn, advanced) = self.advance(turn, stop).instrument(span.clone()).await?;
            match advanced {
                Advanced::Written => {}
                Advanced::Stopped => return Ok(Served::Done),
                Advanced::NotNow => return Ok(Served::NotNow),
            }
        }
        Ok(Served::Done)
    }
}
