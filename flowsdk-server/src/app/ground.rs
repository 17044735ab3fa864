//! The ground that the parts of a process stand on: storage, streams, keys, time, and the tasks.
//!
//! The embedded and the distributed set-up differ only in how their ground is made.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use flowsdk_core::change::{ChangeLog, NoChangeLog};
use flowsdk_core::context::OpContext;
use flowsdk_core::conversation::Handover;
use flowsdk_core::fault::{BoxError, Chain, StorageError};
use flowsdk_core::flow::{HttpCaller, ScriptRunner};
use flowsdk_core::kv::KeyValue;
use flowsdk_core::lease::Leases;
use flowsdk_core::media::{Blobs, MediaFiles, MediaLinks};
use flowsdk_core::stream::broker::Broker;
use flowsdk_core::stream::consumer::{
    BatchHandler, ConsumerConfig, Dispatcher, PartitionWorker, Submitter, Subscription,
};
use flowsdk_core::stream::dead_letter::DeadLetters;
use flowsdk_core::time::ManualClock;
use flowsdk_crypto::PasswordHasher;
use flowsdk_outside::http::GuardedHttp;
use flowsdk_store::memory::MemoryKeyValue;
use flowsdk_store::redis::{Redis, RedisBroker};
use flowsdk_store::sql::{Claim, ClaimError, Hold, OutboxRoutes, SqlBroker, SqlKeyValue, SqlStore};
use futures_util::future::BoxFuture;
use reqwest::Url;
use secrecy::ExposeSecret as _;

use super::links::Links;
use super::parts::{Part, Reads, outbox_groups};
use super::{Adapters, agreed, checks};
use crate::config::Config;
use crate::health::{Dependency, Health};
use crate::refusals::Refusals;
use crate::script_worker::script_workers;
use crate::supervisor::Supervisor;

/// Passwords that may wait to be hashed.
const HASHES_WAITING: usize = 256;
/// Commits wait for the disk behind a checkpoint, so each has little to move: 50 ms instead of a second took the
/// slowest hundredth of answers at half load from 18 ms to 9.
const CHECKPOINT_PERIOD: Duration = Duration::from_millis(50);
const WEBHOOKS_PERIOD: Duration = Duration::from_secs(1);
const METRICS_PERIOD: Duration = Duration::from_secs(5);
const PURGE_PERIOD: Duration = Duration::from_secs(60);

/// Storage, streams, keys and tasks of one process, and the surface that its parts build.
pub(crate) struct Ground {
    pub(crate) config: Arc<Config>,
    pub(crate) cx: OpContext,
    pub(crate) store: Arc<SqlStore>,
    /// The streams that consumers read.
    pub(crate) broker: Arc<dyn Broker>,
    /// Facts that survive a restart.
    pub(crate) kv: Arc<dyn KeyValue>,
    /// Facts that may be forgotten with the process, such as failed logins.
    pub(crate) attempts: Arc<dyn KeyValue>,
    pub(crate) hasher: PasswordHasher,
    /// Where the contents of files are.
    pub(crate) blobs: Blobs,
    pub(crate) media_links: Arc<MediaLinks>,
    pub(crate) supervisor: Supervisor,
    pub(crate) links: Links,
    pub(crate) surface: Surface,
    pub(crate) adapters: Adapters,
    pub(super) leases: Leases,
    redis: Option<Arc<RedisBroker>>,
    pub(super) claim: Arc<Claim>,
}

/// Routes, readiness checks and last acts of the parts.
#[derive(Default)]
pub(crate) struct Surface {
    pub(crate) routes: Router,
    pub(crate) checks: Vec<Box<dyn Dependency>>,
    pub(crate) acts: LastActs,
}

/// Steps of the parts when the app stops.
#[derive(Default)]
pub(crate) struct LastActs {
    /// Run first when the app stops, before its tasks end.
    pub(crate) closing: Vec<BoxFuture<'static, ()>>,
    /// Run after the last task, while the store is still open.
    pub(crate) last: Vec<BoxFuture<'static, ()>>,
}

impl Surface {
    /// Adds the routes of a part.
    pub(crate) fn add_routes(&mut self, routes: Router) {
        self.routes = std::mem::take(&mut self.routes).merge(routes);
    }
}

/// The reason why a process without Redis cannot start: another one works on its database.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("{}; several servers need REDIS_URL", ClaimError::Taken)]
pub struct DatabaseTaken;

impl Ground {
    /// One process: streams and keys are in the database, which is taken for this process alone.
    pub(super) async fn embedded(
        config: Arc<Config>,
        adapters: Adapters,
        parts: &[&Part],
    ) -> Result<Self, BoxError> {
        let claim = config.database.claim(Hold::Alone).await.map_err(|error| match error {
            ClaimError::Taken => BoxError::from(DatabaseTaken),
            error => error.into(),
        })?;
        let routes = OutboxRoutes::embedded(outbox_groups(parts));
        let cx = adapters.context();
        let store = connect(&config, &adapters, routes, &cx).await?;
        agreed::check(&config, &store, &cx).await?;
        let kv = Arc::new(SqlKeyValue::new((*store).clone(), cx.clock()));
        // Nobody else can own a partition of a database that is claimed, so no lease ends by time.
        let standing = Arc::new(MemoryKeyValue::new(Arc::new(ManualClock::default())));
        let leases = Leases::new(standing, "embedded", config.lease_ttl);
        let ground = Self {
            broker: Arc::new(SqlBroker::new((*store).clone())),
            kv: Arc::clone(&kv) as _,
            attempts: Arc::new(MemoryKeyValue::new(cx.clock())),
            redis: None,
            ..Self::on(config, adapters, cx, store, leases, claim)?
        };
        ground.keep_database(kv);
        Ok(ground)
    }

    /// Any number of processes over Postgres and Redis Streams.
    pub(super) async fn distributed(config: Arc<Config>, adapters: Adapters) -> Result<Self, BoxError> {
        let url = config.redis.as_ref().map(|url| url.expose_secret()).unwrap_or_default();
        let redis: Redis = flowsdk_store::redis::connect(url).await?;
        let claim = config.database.claim(Hold::Shared).await.map_err(|error| match error {
            ClaimError::Taken => BoxError::from(format!("{error} without REDIS_URL")),
            error => error.into(),
        })?;
        let cx = adapters.context();
        let store = connect(&config, &adapters, OutboxRoutes::relayed(), &cx).await?;
        agreed::check(&config, &store, &cx).await?;
        let leases = Leases::new(Arc::new(redis.key_values()), cx.ids().next_id(), config.lease_ttl);
        let broker = Arc::new(redis.broker(config.partitions));
        let mut ground = Self {
            broker: Arc::clone(&broker) as _,
            redis: Some(broker),
            ..Self::on(config, adapters, cx, store, leases, claim)?
        };
        ground.surface.checks.push(Box::new(checks::RedisServer(redis)));
        let (listener, stop) = (Arc::clone(&ground.store), ground.supervisor.work.clone());
        ground.supervisor.work("outbox listener", async move { listener.follow_commits(&stop).await });
        Ok(ground)
    }

    fn on(
        config: Arc<Config>,
        adapters: Adapters,
        cx: OpContext,
        store: Arc<SqlStore>,
        leases: Leases,
        claim: Claim,
    ) -> Result<Self, BoxError> {
        let blobs = match &adapters.blobs {
            Some(blobs) => Arc::clone(blobs),
            None => crate::media::blobs(&config.media.store)?,
        };
        let public = config.media.public_url.as_ref().map(Url::as_str);
        let own = format!("http://{}", crate::http_client::near(config.listen));
        let media_links = Arc::new(MediaLinks::new(&config.master_key, cx.clock(), public, &own));
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Ok(Self {
            blobs,
            media_links,
            broker: Arc::new(SqlBroker::new((*store).clone())),
            kv: Arc::clone(leases.store()),
            attempts: Arc::clone(leases.store()),
            hasher: PasswordHasher::new(cores, HASHES_WAITING),
            supervisor: Supervisor::new(adapters.pace),
            links: Links::default(),
            surface: Surface::default(),
            redis: None,
            claim: Arc::new(claim),
            config,
            cx,
            store,
            adapters,
            leases,
        })
    }

    /// The files of this process, whose changes are noted in `changes`.
    pub(crate) fn media_files(&self, changes: Arc<dyn ChangeLog>) -> MediaFiles<SqlStore> {
        let (store, blobs, links) =
            (Arc::clone(&self.store), Arc::clone(&self.blobs), Arc::clone(&self.media_links));
        MediaFiles::new(store, blobs, links, self.cx.clone(), changes)
    }

    /// The streams in Redis, when the processes are several.
    pub(crate) fn redis(&self) -> Option<&Arc<RedisBroker>> {
        self.redis.as_ref()
    }

    /// Returns how answers and notices get to visitors. With several processes the gateway of this one may not be the
    /// visitor's.
    pub(crate) fn handover(&self) -> Handover {
        match (&self.links.gateway, self.redis()) {
            (Some(gateway), None) => Handover::Direct(Arc::clone(gateway) as _),
            (_, Some(_)) | (None, None) => Handover::Stream,
        }
    }

    /// Consumes the streams of `reads` in this process: a dispatcher, and a worker for each partition. The
    /// submitter hands the consumer further events of this process.
    pub(crate) fn consume<H: BatchHandler>(
        &self,
        handler: H,
        reads: &Reads,
        config: ConsumerConfig,
    ) -> Submitter<H> {
        let handler = Arc::new(handler);
        let name = config.name;
        let (dispatcher, submitter) = Dispatcher::new(
            Arc::clone(&handler),
            Some(Arc::clone(&self.broker)),
            Arc::new(DeadLetters::new(Arc::clone(&self.store), self.cx.clone())),
            self.cx.clock(),
            config,
        );
        let stop = self.supervisor.work.clone();
        // Held to the end: the dispatcher outlives the workers that feed it, and the database is this process's
        // until the last batch is done.
        let held = (submitter.clone(), self.claim.clone());
        self.supervisor.work(name, async move {
            dispatcher.run(stop).await;
            drop(held);
        });
        for index in 0..self.broker.partitions() {
            let subscription = Subscription { topics: reads.topics, group: reads.group, index };
            let worker = PartitionWorker::new(
                Arc::clone(&handler),
                Arc::clone(&self.broker),
                self.leases.clone(),
                submitter.clone(),
                subscription,
            );
            self.supervisor.intake(name, worker.run(self.supervisor.intake.clone()));
        }
        submitter
    }

    /// Calls the idempotent `tick` every `period` in this process, and once more at the end.
    pub(crate) fn every<F, Fut>(&self, name: &'static str, period: Duration, tick: F)
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        self.supervisor.periodic(name, period, tick);
    }

    /// Adds the means to watch the process: its readiness, with a check of every consumer of the product that is
    /// worth one, and its metrics.
    pub(super) fn watch(&mut self, parts: &[&Part]) {
        let mut checks = std::mem::take(&mut self.surface.checks);
        if self.redis.is_some() {
            // Whichever process consumes: a visitor is not to be let in where nobody answers.
            let watched = parts.iter().flat_map(|part| part.reads).filter_map(|reads| self.consumed(reads));
            checks.extend(watched);
        }
        checks.push(Box::new(checks::Database(Arc::clone(&self.store))));
        let metrics = self.adapters.metrics.clone();
        if let Some(metrics) = metrics.clone() {
            // Histograms gather samples until they are read.
            self.every("metrics upkeep", METRICS_PERIOD, move || {
                metrics.run_upkeep();
                async {}
            });
        }
        let files = Arc::new(self.media_files(Arc::new(NoChangeLog)));
        self.surface.add_routes(self.refusals().limit(crate::media::routes(files)));
        let health = Health::new(checks, self.supervisor.intake.clone(), metrics);
        self.surface.add_routes(health.router());
    }

    /// Returns a limit of what strangers may try.
    pub(super) fn refusals(&self) -> Refusals {
        Refusals::new(self.config.api.refusals_per_address, self.config.webchat.trusted_proxies)
    }

    fn consumed(&self, reads: &Reads) -> Option<Box<dyn Dependency>> {
        let (name, &topic) = (reads.watched_as?, reads.topics.first()?);
        let (broker, kv) = (Arc::clone(&self.broker), Arc::clone(self.leases.store()));
        let (clock, standing) = (self.cx.clock(), Mutex::default());
        Some(Box::new(checks::Consumed { name, broker, kv, topic, group: reads.group, clock, standing }))
    }

    /// The caller of foreign HTTP servers; the same for flows and integrations.
    ///
    /// # Errors
    /// TLS cannot be set up.
    pub(crate) fn http(&mut self) -> Result<Arc<dyn HttpCaller>, BoxError> {
        if let Some(http) = &self.adapters.http {
            return Ok(Arc::clone(http));
        }
        let http: Arc<dyn HttpCaller> =
            Arc::new(GuardedHttp::new(self.config.flow_http_allowed_hosts.clone())?);
        self.adapters.http = Some(Arc::clone(&http));
        Ok(http)
    }

    /// The runner of scripts; the same for those who run them and those who check them.
    ///
    /// # Errors
    /// This program does not know where it is.
    pub(crate) fn scripts(&mut self) -> Result<Arc<dyn ScriptRunner>, BoxError> {
        if let Some(scripts) = &self.adapters.scripts {
            return Ok(Arc::clone(scripts));
        }
        let scripts: Arc<dyn ScriptRunner> = Arc::new(script_workers()?);
        self.adapters.scripts = Some(Arc::clone(&scripts));
        Ok(scripts)
    }

    /// Learns which events webhooks take, now and from now on: whatever this process does, it announces.
    ///
    /// # Errors
    /// The database cannot be read.
    pub(super) async fn learn_webhooks(&self) -> Result<(), BoxError> {
        self.store.learn_webhooks().await?;
        let store = Arc::clone(&self.store);
        self.every("webhooks known", WEBHOOKS_PERIOD, move || {
            let store = Arc::clone(&store);
            async move {
                if let Err(error) = store.learn_webhooks().await {
                    tracing::debug!(error = %Chain(&error), "new webhooks are heard of later");
                }
            }
        });
        Ok(())
    }

    /// Upkeep of a database that holds streams and keys.
    fn keep_database(&self, kv: Arc<SqlKeyValue>) {
        let store = Arc::clone(&self.store);
        self.every("checkpoint", CHECKPOINT_PERIOD, move || {
            let store = Arc::clone(&store);
            async move {
                if let Err(error) = store.checkpoint().await {
                    tracing::warn!(error = %Chain(&error), "no checkpoint");
                }
            }
        });
        self.every("key-value purge", PURGE_PERIOD, move || {
            let kv = Arc::clone(&kv);
            async move {
                if let Err(error) = kv.purge().await {
                    tracing::warn!(error = %Chain(&error), "no purge");
                }
            }
        });
    }
}

async fn connect(
    config: &Config,
    adapters: &Adapters,
    routes: OutboxRoutes,
    cx: &OpContext,
) -> Result<Arc<SqlStore>, StorageError> {
    let store = match &adapters.store {
        Some(store) => store.with_routes(routes),
        None => SqlStore::connect(&config.database, routes).await?,
    };
    Ok(Arc::new(store.with_context(cx.clone())))
}
