//! The tasks of a bot, and their end.

use std::sync::Arc;
use std::time::Duration;

use flowsdk_agent::executor::Executor;
use flowsdk_agent::inbox::{AGENT_GROUP, HasInbox as _};
use flowsdk_agent::knowledge::Ingest;
use flowsdk_agent::ledger::HasAgentTurns as _;
use flowsdk_core::context::OpContext;
use flowsdk_core::conversation::{CONVERSATION_GROUP, ConversationConsumer, ConversationEvent, InputTimers};
use flowsdk_core::event::{FlowEvent, InputTimeout};
use flowsdk_core::fault::{Chain, StorageError};
use flowsdk_core::lease::Leases;
use flowsdk_core::store::Store as _;
use flowsdk_core::stream::broker::Broker;
use flowsdk_core::stream::consumer::{
    BatchHandler, ConsumerConfig, Dispatcher, PartitionWorker, Submitter, Subscription,
};
use flowsdk_core::stream::dead_letter::DeadLetters;
use flowsdk_core::stream::topic::{StreamPartition, TopicName};
use flowsdk_core::time::ManualClock;
use flowsdk_outside::requests::Performer;
use flowsdk_store::memory::MemoryKeyValue;
use flowsdk_store::sql::{Claim, SqlBroker, SqlStore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

const TIMER_PERIOD: Duration = Duration::from_secs(1);
const LEASE: Duration = Duration::from_secs(10);
/// How long a stop waits for deliveries, and how often it looks.
pub(super) const LAST_DELIVERIES: Duration = Duration::from_secs(1);
const LOOK_AGAIN: Duration = Duration::from_millis(5);
/// The consumer group that delivers answers.
pub(super) const DELIVERY_GROUP: &str = "transport";

type Turns = Submitter<ConversationConsumer<SqlStore>>;

/// The tasks: first those that let entries in stop, then those that finish them.
pub(super) struct Tasks {
    store: Arc<SqlStore>,
    cx: OpContext,
    broker: Arc<dyn Broker>,
    leases: Leases,
    dead_letters: Arc<DeadLetters<SqlStore>>,
    intake: (CancellationToken, TaskTracker),
    work: (CancellationToken, TaskTracker),
    /// Whether a transport consumes the answers.
    pub(super) delivers: bool,
    /// Whether AI agents answer.
    has_agents: bool,
    /// How long a stop waits for what is not answered or not delivered yet.
    last_deliveries: Duration,
    _claim: Claim,
}

impl std::fmt::Debug for Tasks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tasks").field("running", &self.work.1.len()).finish_non_exhaustive()
    }
}

impl Tasks {
    pub(super) fn new(store: Arc<SqlStore>, cx: OpContext, claim: Claim) -> Self {
        Self {
            broker: Arc::new(SqlBroker::new((*store).clone())),
            // Nobody else can own a partition of a database that is claimed, so no lease ends by time.
            leases: Leases::new(
                Arc::new(MemoryKeyValue::new(Arc::new(ManualClock::default()))),
                "bot",
                LEASE,
            ),
            dead_letters: Arc::new(DeadLetters::new(Arc::clone(&store), cx.clone())),
            intake: Default::default(),
            work: Default::default(),
            delivers: false,
            has_agents: false,
            last_deliveries: LAST_DELIVERIES,
            _claim: claim,
            store,
            cx,
        }
    }

    /// Consumes the streams `topics` for `group`.
    pub(super) fn consume<H: BatchHandler>(
        &mut self,
        handler: H,
        topics: &'static [TopicName],
        group: &'static str,
        config: ConsumerConfig,
    ) -> Submitter<H> {
        let handler = Arc::new(handler);
        let (dispatcher, submitter) = Dispatcher::new(
            Arc::clone(&handler),
            Some(Arc::clone(&self.broker)),
            Arc::clone(&self.dead_letters) as _,
            self.cx.clock(),
            config,
        );
        let (stop, held) = (self.work.0.clone(), submitter.clone());
        self.work.1.spawn(async move {
            dispatcher.run(stop).await;
            // Held to the end: the dispatcher outlives the workers that feed it.
            drop(held);
        });
        for index in 0..self.broker.partitions() {
            let subscription = Subscription { topics, group, index };
            let worker = PartitionWorker::new(
                Arc::clone(&handler),
                Arc::clone(&self.broker),
                self.leases.clone(),
                submitter.clone(),
                subscription,
            );
            self.intake.1.spawn(worker.run(self.intake.0.clone()));
        }
        submitter
    }

    /// Tells sessions whose time for an answer is over.
    pub(super) fn timers(&mut self, turns: Turns) {
        let timers = InputTimers::new(Arc::clone(&self.store));
        let (cx, stop) = (self.cx.clone(), self.work.0.clone());
        self.work.1.spawn(async move {
            let mut every = tokio::time::interval(TIMER_PERIOD);
            loop {
                tokio::select! {
                    _ = every.tick() => ring(&timers, &cx, &turns).await,
                    () = stop.cancelled() => return,
                }
            }
        });
    }

    /// Performs the requests of flows, and takes the results to their sessions.
    pub(super) fn perform(&mut self, performer: Performer, turns: Turns) {
        let stop = self.work.0.clone();
        self.work.1.spawn(performer.run(stop, move |done| {
            let turns = turns.clone();
            async move {
                let event = ConversationEvent::Flow(FlowEvent::EffectDone(done));
                // A dispatcher that stops takes no more: the session's deadline notices.
                drop(turns.submit(event.session_id().to_string(), event).await);
            }
        }));
    }

    /// Runs AI agents, and reads what they know. A stop waits as long for their answers.
    pub(super) fn agents(
        &mut self,
        executor: Executor<SqlStore>,
        ingest: Ingest<SqlStore>,
        last_answers: Duration,
    ) {
        self.has_agents = true;
        self.last_deliveries = LAST_DELIVERIES + last_answers;
        let (executor, stop) = (Arc::new(executor), self.work.0.clone());
        self.work.1.spawn(async move { executor.run(&stop).await });
        let stop = self.work.0.clone();
        self.work.1.spawn(async move { ingest.run(&stop).await });
    }

    /// Stops: at first waits a moment for answers that are committed and not delivered yet.
    pub(super) async fn stop(self) {
        // A transport that fails has the rest at the next start.
        drop(tokio::time::timeout(self.last_deliveries, self.delivered()).await);
        for (stop, tasks) in [self.intake, self.work] {
            stop.cancel();
            tasks.close();
            tasks.wait().await;
        }
    }
}

impl Tasks {
    /// Returns when no answer waits.
    async fn delivered(&self) {
        // What an agent hands to another one passes the first of the places again: the second look finds it there.
        let mut idle = 0;
        while self.has_agents && idle < 2 {
            if self.is_idle().await.unwrap_or(true) {
                idle += 1;
            } else {
                idle = 0;
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        }
        while self.delivers && self.waits(TopicName::OutgoingChat, DELIVERY_GROUP).await {
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    /// Returns whether nothing is on its way to an agent, and no agent and no flow has anything to do. The places are looked at
    /// in the order in which events pass them.
    async fn is_idle(&self) -> Result<bool, StorageError> {
        if self.waits(TopicName::Agent, AGENT_GROUP).await {
            return Ok(false);
        }
        if self.has_agent_work().await? {
            return Ok(false);
        }
        Ok(!self.waits(TopicName::Flow, CONVERSATION_GROUP).await)
    }

    async fn has_agent_work(&self) -> Result<bool, StorageError> {
        let mut tx = self.store.read().await?;
        Ok(!tx.inbox().waiting(1).await?.is_empty()
            || !tx.agent_turns().sessions_running(1).await?.is_empty())
    }

    async fn waits(&self, topic: TopicName, group: &str) -> bool {
        let stream = StreamPartition { topic, index: 0 };
        self.broker.backlog(stream, group).await.is_ok_and(|left| left > 0)
    }
}

async fn ring(timers: &InputTimers<SqlStore>, cx: &OpContext, turns: &Turns) {
    match timers.due(cx.now(), true).await {
        Ok(due) => {
            for session_id in due {
                let key = session_id.to_string();
                let event = ConversationEvent::Flow(FlowEvent::InputTimeout(InputTimeout { session_id }));
                if turns.enqueue(key, event).await.is_err() {
                    return;
                }
            }
        }
        Err(error) => tracing::warn!(error = %Chain(&error), "due sessions cannot be read"),
    }
}
