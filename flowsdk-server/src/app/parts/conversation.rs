//! Conversations: the turns of sessions, their timers, the requests of flows, and the statuses of messages.

use std::sync::Arc;
use std::time::Duration;

use flowsdk_core::conversation::{
    BACKPRESSURE_PERIOD, CONVERSATION_GROUP, CONVERSATION_TOPICS, ConversationConsumer, ConversationEvent,
    Conversations, InputTimers, MessagePersister, PERSISTER_GROUP, SharedBackpressure,
};
use flowsdk_core::event::{EffectDone, FlowEvent, InputTimeout};
use flowsdk_core::fault::{BoxError, Chain};
use flowsdk_core::stream::broker::{Broker, NewEntry};
use flowsdk_core::stream::consumer::{Backpressure, ConsumerConfig};
use flowsdk_core::stream::topic::{Flow, StreamPartition, TopicName};
use flowsdk_outside::requests::{Performer, requests};

use super::{Part, Reads};
use crate::app::ground::Ground;
use crate::app::links::Turns;
use crate::config::Role;

/// How long a turn may wait for others to share its commit, while others come.
const GATHER: Duration = Duration::from_millis(1);
const TIMER_PERIOD: Duration = Duration::from_secs(1);
/// Entries of `stream:flow` behind which timers that are late wait, so that none of them is appended again and again.
const TIMERS_WAITING: u64 = 1_024;

/// Orchestrator and engine, which share a transaction, and the message persister.
pub(super) const CONVERSATION: Role = Role {
    names: &["orchestrator", "engine"],
    together: Some(
        "orchestrator and engine share a transaction, so a process has both or none: orchestrator,engine",
    ),
    sections: &[],
};

const TURNS: Reads = Reads {
    topics: CONVERSATION_TOPICS,
    group: CONVERSATION_GROUP,
    watched_as: Some("conversation consumer"),
};
const STATUSES: Reads = Reads { topics: &[TopicName::Status], group: PERSISTER_GROUP, watched_as: None };

pub(super) const PART: Part =
    Part { role: CONVERSATION, reads: &[TURNS, STATUSES], start: |ground| Box::pin(async { start(ground) }) };

fn start(ground: &mut Ground) -> Result<(), BoxError> {
    let store = Arc::clone(&ground.store);
    let (outside, worker) = requests(ground.cx.clock(), ground.http()?, ground.scripts()?);
    ground.links.outside = Some(Arc::clone(&outside));
    let conversations = Conversations::new(
        Arc::clone(&store),
        ground.cx.clone(),
        Arc::clone(&ground.config.master_key),
        ground.handover(),
    )
    .with_language(ground.config.default_language);
    let consumer = ConversationConsumer::new(Arc::new(conversations.with_outside(outside)));
    let settings =
        ConsumerConfig { parallel: store.writers(), gather: GATHER, ..ConsumerConfig::named("conversation") };
    let turns = ground.consume(consumer, &TURNS, settings);
    let way = if ground.redis().is_some() {
        tell_gateways(ground, turns.backpressure().clone());
        Way::Stream(Arc::clone(&ground.broker))
    } else {
        ground.links.turns = Some(turns.clone());
        Way::Consumer(turns)
    };
    perform(ground, worker, way.clone());
    timers(ground, way);
    let settings = ConsumerConfig { max_batch: 512, ..ConsumerConfig::named("message persister") };
    // Its one source of events is the stream.
    drop(ground.consume(MessagePersister::new(store, ground.cx.clone()), &STATUSES, settings));
    Ok(())
}

/// Tells the gateways, wherever they run, whose events they are to refuse.
fn tell_gateways(ground: &Ground, here: Backpressure) {
    let shared = Arc::new(SharedBackpressure::new(Arc::clone(&ground.kv)));
    ground.every("conversation backpressure", BACKPRESSURE_PERIOD, move || {
        let (shared, here) = (Arc::clone(&shared), here.clone());
        async move {
            if let Err(error) = shared.tell(&here).await {
                tracing::debug!(error = %Chain(&error), "gateways are not told to refuse events");
            }
        }
    });
}

/// The way of flow events from the tasks of this part to the consumer that has the partition.
#[derive(Clone)]
enum Way {
    /// This process is the only one.
    Consumer(Turns),
    Stream(Arc<dyn Broker>),
}

impl Way {
    /// Returns whether timers that are late may be passed on: not while those of before wait for a consumer.
    async fn has_room(&self) -> bool {
        let Self::Stream(broker) = self else {
            // Whoever passes them on waits for the consumer.
            return true;
        };
        let mut waiting = 0;
        for index in 0..broker.partitions() {
            let stream = StreamPartition { topic: TopicName::Flow, index };
            match broker.backlog(stream, CONVERSATION_GROUP).await {
                Ok(entries) => waiting += entries,
                Err(_) => return false,
            }
        }
        waiting < TIMERS_WAITING
    }

    /// Passes timers on. Those that get nowhere are due again at the next tick.
    async fn ring(&self, due: Vec<InputTimeout>) {
        match self {
            Self::Consumer(turns) => {
                for timeout in due {
                    let key = timeout.session_id.to_string();
                    let event = ConversationEvent::Flow(FlowEvent::InputTimeout(timeout));
                    if turns.enqueue(key, event).await.is_err() {
                        return;
                    }
                }
            }
            Self::Stream(broker) => {
                let entries: Vec<NewEntry> = due
                    .into_iter()
                    .map(|timeout| NewEntry::of::<Flow>(&FlowEvent::InputTimeout(timeout)))
                    .collect();
                if entries.is_empty() {
                    return;
                }
                if let Err(error) = broker.publish(&entries).await {
                    tracing::warn!(error = %Chain(&error), "timers ring again");
                }
            }
        }
    }

    /// Passes the result of a request on; in one process it returns after the turn. If the result is lost, the
    /// session's deadline notices.
    async fn done(&self, done: EffectDone) {
        match self {
            Self::Consumer(turns) => {
                let key = done.session_id.to_string();
                // A dispatcher that stops takes no more.
                drop(turns.submit(key, ConversationEvent::Flow(FlowEvent::EffectDone(done))).await);
            }
            Self::Stream(broker) => {
                let entry = NewEntry::of::<Flow>(&FlowEvent::EffectDone(done));
                if let Err(error) = broker.publish(&[entry]).await {
                    tracing::warn!(error = %Chain(&error), "the result of a request is lost");
                }
            }
        }
    }
}

fn perform(ground: &Ground, worker: Performer, way: Way) {
    let performing = worker.run(ground.supervisor.work.clone(), move |done| {
        let way = way.clone();
        async move { way.done(done).await }
    });
    ground.supervisor.work("flow outside", performing);
}

fn timers(ground: &Ground, way: Way) {
    let timers = Arc::new(InputTimers::new(Arc::clone(&ground.store)));
    let cx = ground.cx.clone();
    ground.every_alone("input-timers", "input timers", TIMER_PERIOD, move || {
        let (timers, cx, way) = (Arc::clone(&timers), cx.clone(), way.clone());
        async move {
            let late = way.has_room().await;
            match timers.due(cx.now(), late).await {
                Ok(due) => {
                    way.ring(due.into_iter().map(|session_id| InputTimeout { session_id }).collect()).await
                }
                Err(error) => tracing::warn!(error = %Chain(&error), "due sessions cannot be read"),
            }
        }
    });
}
