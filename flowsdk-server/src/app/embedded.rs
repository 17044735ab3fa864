//! One process: a hop between parts is a function call, and the turn is the durable write.

use std::sync::Arc;
use std::time::Duration;

use flowsdk_channels::webchat::{DirectIngress, Gateway, StatusQueue, StoreStatuses};
use flowsdk_core::context::OpContext;
use flowsdk_core::conversation::{
    CONVERSATION_GROUP, CONVERSATION_TOPICS, ConversationConsumer, ConversationEvent, Conversations,
    Handover, InputTimers, MessagePersister,
};
use flowsdk_core::event::{FlowEvent, InputTimeout};
use flowsdk_core::fault::{BoxError, Chain};
use flowsdk_core::stream::consumer::{ConsumerConfig, Dispatcher, PartitionWorker, Submitter, Subscription};
use flowsdk_core::stream::dead_letter::DeadLetters;
use flowsdk_store::memory::MemoryKeyValue;
use flowsdk_store::sql::{OutboxRoutes, SqlBroker, SqlKeyValue, SqlStore};

use super::api::Keys;
use super::{Started, sole, webchat};
use crate::config::Config;
use crate::flow_outside::flow_outside;
use crate::supervisor::Supervisor;

/// How long a turn may wait for others to share its commit, while others come.
const GATHER: Duration = Duration::from_millis(1);
const TIMER_PERIOD: Duration = Duration::from_secs(1);
/// Commits wait for the disk behind a checkpoint, so each has little to move: 50 ms instead of a second took the
/// slowest hundredth of answers at half load from 18 ms to 9.
const CHECKPOINT_PERIOD: Duration = Duration::from_millis(50);
const PURGE_PERIOD: Duration = Duration::from_secs(60);

pub(super) async fn start(
    config: &Config,
    cx: &OpContext,
    supervisor: &Supervisor,
) -> Result<Started, BoxError> {
    let owner = sole::claim(&config.database).await?;
    let groups = CONVERSATION_TOPICS.iter().map(|&topic| (topic, CONVERSATION_GROUP));
    let store = SqlStore::connect(&config.database, OutboxRoutes::embedded(groups)).await?;
    let shared = Arc::new(store.clone());

    let persister = MessagePersister::new(Arc::clone(&shared));
    let statuses = Arc::new(StatusQueue::new(Arc::new(StoreStatuses(persister))));
    let gateway = Gateway::new(cx.clone(), statuses);
    let (outside, outside_worker) = flow_outside(cx.clock(), config.flow_http_allowed_hosts.clone())?;
    let conversations = Conversations::new(
        Arc::clone(&shared),
        cx.clone(),
        Arc::clone(&config.master_key),
        Handover::Direct(Arc::clone(&gateway) as _),
    );
    let conversations = Arc::new(conversations.with_outside(outside));
    let handler = Arc::new(ConversationConsumer::new(conversations));
    let broker = Arc::new(SqlBroker::new(store.clone()));
    let kv = Arc::new(SqlKeyValue::new(store.clone(), cx.clock()));
    let consumer =
        ConsumerConfig { parallel: store.writers(), gather: GATHER, ..ConsumerConfig::named("conversation") };
    let dead_letters = Arc::new(DeadLetters::new(Arc::clone(&shared), cx.clone()));
    let (dispatcher, submitter) = Dispatcher::new(
        Arc::clone(&handler),
        Some(Arc::clone(&broker) as _),
        dead_letters,
        cx.clock(),
        consumer,
    );
    let stop = supervisor.work.clone();
    supervisor.work("conversation dispatcher", async move {
        dispatcher.run(stop).await;
        // The database is ours until the last turn is done.
        drop(owner);
    });

    let subscription = Subscription {
        topics: CONVERSATION_TOPICS,
        group: CONVERSATION_GROUP,
        index: 0,
        // One process at a time, so that a restart need not wait for the end of its own lease.
        owner: "embedded".to_owned(),
        lease_ttl: config.lease_ttl,
    };
    let keys = Keys {
        attempts: Arc::new(MemoryKeyValue::new(cx.clock())),
        // A restart must not make a used token good again.
        rotation: Arc::clone(&kv) as _,
    };
    let worker = PartitionWorker::new(handler, broker, Arc::clone(&kv) as _, submitter.clone(), subscription);
    let stop = supervisor.intake.clone();
    supervisor.intake("conversation streams", worker.run(stop));

    timers(supervisor, cx, &shared, &submitter);
    let results = submitter.clone();
    let performing = outside_worker.run(supervisor.work.clone(), move |done| {
        let results = results.clone();
        async move {
            let key = done.session_id.to_string();
            // A dispatcher that stops takes no more: the session's deadline notices.
            drop(results.enqueue(key, ConversationEvent::Flow(FlowEvent::EffectDone(done))).await);
        }
    });
    supervisor.work("flow outside", performing);
    let checkpointed = store.clone();
    supervisor.periodic("checkpoint", CHECKPOINT_PERIOD, move || {
        let store = checkpointed.clone();
        async move {
            if let Err(error) = store.checkpoint().await {
                tracing::warn!(error = %Chain(&error), "no checkpoint");
            }
        }
    });
    supervisor.periodic("key-value purge", PURGE_PERIOD, move || {
        let kv = Arc::clone(&kv);
        async move {
            if let Err(error) = kv.purge().await {
                tracing::warn!(error = %Chain(&error), "no purge");
            }
        }
    });
    let ingress = Arc::new(DirectIngress::new(submitter));
    let webchat = Some(webchat::Parts { gateway, ingress });
    Ok(Started { store, webchat, dependencies: Vec::new(), keys })
}

fn timers(
    supervisor: &Supervisor,
    cx: &OpContext,
    store: &Arc<SqlStore>,
    submitter: &Submitter<ConversationConsumer<SqlStore>>,
) {
    let timers = Arc::new(InputTimers::new(Arc::clone(store)));
    let (cx, submitter) = (cx.clone(), submitter.clone());
    supervisor.periodic("input timers", TIMER_PERIOD, move || {
        let (timers, cx, submitter) = (Arc::clone(&timers), cx.clone(), submitter.clone());
        async move {
            match timers.due(cx.now()).await {
                Ok(due) => {
                    for session_id in due {
                        let key = session_id.to_string();
                        let event =
                            ConversationEvent::Flow(FlowEvent::InputTimeout(InputTimeout { session_id }));
                        if submitter.enqueue(key, event).await.is_err() {
                            return;
                        }
                    }
                }
                Err(error) => tracing::warn!(error = %Chain(&error), "due sessions cannot be read"),
            }
        }
    });
}
