//! Many processes over Postgres and Redis Streams.

use std::sync::Arc;
use std::time::Duration;

use flowsdk_channels::webchat::{Gateway, StatusQueue, StreamIngress, StreamStatuses};
use flowsdk_core::context::OpContext;
use flowsdk_core::conversation::{
    CONVERSATION_GROUP, CONVERSATION_TOPICS, ConversationConsumer, Conversations, Handover, InputTimers,
    MessagePersister, PERSISTER_GROUP,
};
use flowsdk_core::event::{FlowEvent, InputTimeout};
use flowsdk_core::fault::{BoxError, Chain};
use flowsdk_core::kv::KeyValue;
use flowsdk_core::lease::Lease;
use flowsdk_core::stream::broker::{Broker, NewEntry, Tails as _};
use flowsdk_core::stream::consumer::{
    BatchHandler, ConsumerConfig, Dispatcher, PartitionWorker, Subscription,
};
use flowsdk_core::stream::dead_letter::DeadLetters;
use flowsdk_core::stream::relay::{Relay, RelayOptions};
use flowsdk_core::stream::topic::{Flow, StreamPartition, TopicName};
use flowsdk_store::redis::{Redis, RedisBroker, TrimPolicy};
use flowsdk_store::sql::{OutboxRoutes, SqlBroker, SqlStore};
use secrecy::ExposeSecret as _;
use tokio_util::sync::CancellationToken;

use super::api::Keys;
use super::{Started, checks, webchat};
use crate::config::Config;
use crate::flow_outside::flow_outside;
use crate::supervisor::Supervisor;
use crate::webchat::{SENT_GROUP, SentReporter, tail_outgoing};

const TIMER_PERIOD: Duration = Duration::from_secs(1);
const TRIM_PERIOD: Duration = Duration::from_secs(30);

/// What every part is given.
struct Ground {
    store: SqlStore,
    broker: Arc<RedisBroker>,
    kv: Arc<dyn KeyValue>,
    cx: OpContext,
    supervisor: Supervisor,
    owner: String,
    lease_ttl: Duration,
}

pub(super) async fn start(
    config: &Config,
    cx: &OpContext,
    supervisor: &Supervisor,
) -> Result<Started, BoxError> {
    let url = config.redis.as_ref().map(|url| url.expose_secret()).unwrap_or_default();
    let redis: Redis = flowsdk_store::redis::connect(url).await?;
    let store = SqlStore::connect(&config.database, OutboxRoutes::relayed()).await?;
    let ground = Ground {
        store: store.clone(),
        broker: Arc::new(redis.broker(config.partitions)),
        kv: Arc::new(redis.key_values()),
        cx: cx.clone(),
        supervisor: supervisor.clone(),
        owner: cx.ids().next_id(),
        lease_ttl: config.lease_ttl,
    };
    let mut dependencies: Vec<Box<dyn crate::health::Dependency>> =
        vec![Box::new(checks::RedisServer(redis.clone()))];
    let (listener, stop) = (store.clone(), supervisor.work.clone());
    supervisor.work("outbox listener", async move { listener.follow_commits(&stop).await });
    if config.roles.conversation {
        ground.conversations(config)?;
        ground.relay();
        ground.timers();
        ground.trim();
    }
    dependencies.push(Box::new(checks::Consumed {
        name: "conversation consumer",
        broker: Arc::clone(&ground.broker) as _,
        kv: Arc::clone(&ground.kv),
        topic: TopicName::Incoming,
        group: CONVERSATION_GROUP,
    }));
    let webchat = if config.roles.webchat { Some(ground.webchat().await?) } else { None };
    let keys = Keys { attempts: Arc::clone(&ground.kv), rotation: Arc::clone(&ground.kv) };
    Ok(Started { store, webchat, dependencies, keys })
}

impl Ground {
    /// A consumer of every partition of `topics`.
    fn consume<H: BatchHandler>(
        &self,
        handler: H,
        topics: &'static [TopicName],
        group: &'static str,
        config: ConsumerConfig,
    ) {
        let handler = Arc::new(handler);
        let broker = Arc::clone(&self.broker) as Arc<dyn Broker>;
        let name = config.name;
        let dead_letters = Arc::new(DeadLetters::new(Arc::new(self.store.clone()), self.cx.clone()));
        let (dispatcher, submitter) = Dispatcher::new(
            Arc::clone(&handler),
            Some(Arc::clone(&broker)),
            dead_letters,
            self.cx.clock(),
            config,
        );
        let (stop, open) = (self.supervisor.work.clone(), submitter.clone());
        self.supervisor.work(name, async move {
            dispatcher.run(stop).await;
            // Held to the end: the dispatcher outlives the workers that feed it.
            drop(open);
        });
        for index in 0..self.broker.partitions() {
            let subscription =
                Subscription { topics, group, index, owner: self.owner.clone(), lease_ttl: self.lease_ttl };
            let worker = PartitionWorker::new(
                Arc::clone(&handler),
                Arc::clone(&broker),
                Arc::clone(&self.kv),
                submitter.clone(),
                subscription,
            );
            self.supervisor.intake(name, worker.run(self.supervisor.intake.clone()));
        }
    }

    fn conversations(&self, config: &Config) -> Result<(), BoxError> {
        let store = Arc::new(self.store.clone());
        let conversations = Conversations::new(
            Arc::clone(&store),
            self.cx.clone(),
            Arc::clone(&config.master_key),
            Handover::Stream,
        );
        let (outside, worker) = flow_outside(self.cx.clock(), config.flow_http_allowed_hosts.clone())?;
        let conversations = conversations.with_outside(outside);
        let broker = Arc::clone(&self.broker);
        let performing = worker.run(self.supervisor.work.clone(), move |done| {
            let broker = Arc::clone(&broker);
            async move {
                let entry = NewEntry::of::<Flow>(&FlowEvent::EffectDone(done));
                if let Err(error) = broker.publish(&[entry]).await {
                    // The session's deadline notices.
                    tracing::warn!(error = %Chain(&error), "the result of a request is lost");
                }
            }
        });
        self.supervisor.work("flow outside", performing);
        let consumer = ConversationConsumer::new(Arc::new(conversations));
        let settings =
            ConsumerConfig { parallel: self.store.writers(), ..ConsumerConfig::named("conversation") };
        self.consume(consumer, CONVERSATION_TOPICS, CONVERSATION_GROUP, settings);
        let persister = MessagePersister::new(store);
        let settings = ConsumerConfig { max_batch: 512, ..ConsumerConfig::named("message persister") };
        self.consume(persister, &[TopicName::Status], PERSISTER_GROUP, settings);
        Ok(())
    }

    /// Moves the outbox of every process to Redis, by whoever has the lease.
    fn relay(&self) {
        let source: Arc<dyn Broker> = Arc::new(SqlBroker::new(self.store.clone()));
        for topic in TopicName::ALL {
            let relay = Relay::new(
                Arc::clone(&source),
                Arc::clone(&self.broker) as _,
                StreamPartition { topic, index: 0 },
                self.owner.clone(),
                RelayOptions::default(),
            );
            let relay = Arc::new(relay);
            let lease = format!("relay:{}", topic.as_str());
            self.under_lease(lease, "outbox relay", move |stop| {
                let relay = Arc::clone(&relay);
                async move { relay.run(&stop).await }
            });
        }
    }

    /// Runs `task` in one process at a time, until it is told to stop or the lease is lost. What is
    /// left in the outbox then is moved on by another process, or at the next start.
    fn under_lease<F, Fut>(&self, lease: String, name: &'static str, task: F)
    where
        F: Fn(CancellationToken) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        let (kv, owner, ttl) = (Arc::clone(&self.kv), self.owner.clone(), self.lease_ttl);
        let stop = self.supervisor.work.clone();
        self.supervisor.work(name, async move {
            while !stop.is_cancelled() {
                match Lease::acquire(Arc::clone(&kv), &lease, &owner, ttl).await {
                    Ok(Some(held)) => {
                        let lost = stop.child_token();
                        let running = task(lost.clone());
                        held.hold_while(&lost, running).await;
                        if let Err(error) = held.release().await {
                            tracing::warn!(%error, lease, "a lease runs out by itself");
                        }
                    }
                    Ok(None) => {}
                    Err(error) => tracing::warn!(%error, lease, "no lease"),
                }
                tokio::select! {
                    () = stop.cancelled() => {}
                    () = tokio::time::sleep(ttl / 5) => {}
                }
            }
        });
    }

    fn timers(&self) {
        let timers = Arc::new(InputTimers::new(Arc::new(self.store.clone())));
        let (broker, cx) = (Arc::clone(&self.broker), self.cx.clone());
        self.under_lease("input-timers".to_owned(), "input timers", move |stop| {
            let (timers, broker, cx) = (Arc::clone(&timers), Arc::clone(&broker), cx.clone());
            async move {
                while !stop.is_cancelled() {
                    ring(&timers, &broker, &cx).await;
                    tokio::select! {
                        () = stop.cancelled() => {}
                        () = tokio::time::sleep(TIMER_PERIOD) => {}
                    }
                }
            }
        });
    }

    fn trim(&self) {
        let broker = Arc::clone(&self.broker);
        self.supervisor.periodic("stream trim", TRIM_PERIOD, move || {
            let broker = Arc::clone(&broker);
            async move {
                if let Err(error) = broker.trim(TrimPolicy::default()).await {
                    tracing::warn!(error = %Chain(&error), "streams were not trimmed");
                }
            }
        });
    }

    async fn webchat(&self) -> Result<webchat::Parts, BoxError> {
        let broker = Arc::clone(&self.broker) as Arc<dyn Broker>;
        let sink = Arc::new(StreamStatuses(Arc::clone(&broker)));
        let gateway = Gateway::new(self.cx.clone(), Arc::new(StatusQueue::new(Arc::clone(&sink) as _)));
        let reporter = SentReporter::new(sink, self.cx.clock());
        let settings = ConsumerConfig { max_batch: 512, ..ConsumerConfig::named("webchat sent") };
        self.consume(reporter, &[TopicName::OutgoingChat], SENT_GROUP, settings);
        for index in 0..self.broker.partitions() {
            let stream = StreamPartition { topic: TopicName::OutgoingChat, index };
            // Open before the first socket joins: what it does not read from the store comes from here.
            let reader = self.broker.tail(stream).await?;
            let tail = tail_outgoing(reader, Arc::clone(&gateway), self.supervisor.work.clone());
            self.supervisor.work("webchat outgoing", tail);
        }
        let ingress = Arc::new(StreamIngress::new(broker, Arc::clone(&self.kv)));
        Ok(webchat::Parts { gateway, ingress })
    }
}

async fn ring(timers: &InputTimers<SqlStore>, broker: &RedisBroker, cx: &OpContext) {
    let due = match timers.due(cx.now()).await {
        Ok(due) if due.is_empty() => return,
        Ok(due) => due,
        Err(error) => {
            tracing::warn!(error = %Chain(&error), "due sessions cannot be read");
            return;
        }
    };
    let entries: Vec<NewEntry> = due
        .into_iter()
        .map(|session_id| NewEntry::of::<Flow>(&FlowEvent::InputTimeout(InputTimeout { session_id })))
        .collect();
    if let Err(error) = broker.publish(&entries).await {
        tracing::warn!(error = %Chain(&error), "timers ring again");
    }
}
