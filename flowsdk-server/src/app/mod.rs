//! Builds the services, runs their tasks and stops them in order.
//!
//! Two arrangements, chosen by whether there is a `REDIS_URL`:
//!
//! - *Embedded*: one process. The gateway hands messages straight to the conversation consumer and is
//!   handed the answers after the commit (`embedded.rs`).
//! - *Distributed*: any number of processes over Postgres and Redis. Events go through Redis Streams,
//!   from the outbox by a relay (`distributed.rs`).

mod api;
mod checks;
mod cors;
mod distributed;
mod embedded;
mod sole;
mod webchat;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use flowsdk_auth::bootstrap::{Bootstrapped, ensure_administrator};
use flowsdk_channels::webchat::Gateway;
use flowsdk_core::context::OpContext;
use flowsdk_core::fault::BoxError;
use flowsdk_crypto::PasswordHasher;
use flowsdk_store::sql::SqlStore;
use metrics_exporter_prometheus::PrometheusHandle;
use tokio::net::TcpListener;
use tower::ServiceBuilder;

use crate::api::Identify;
use crate::config::Config;
use crate::health::{Dependency, Health};
use crate::serve::{ServeConfig, Shutdown};
use crate::supervisor::Supervisor;

pub(crate) use sole::claim;

const METRICS_PERIOD: Duration = Duration::from_secs(5);
/// How long a shutdown waits for acknowledgements that are under way.
const LAST_ACKS: Duration = Duration::from_millis(500);

/// What both arrangements give.
pub(crate) struct Started {
    store: SqlStore,
    webchat: Option<webchat::Parts>,
    dependencies: Vec<Box<dyn Dependency>>,
    keys: api::Keys,
}

/// A server that is built and not yet listening.
pub struct App {
    store: SqlStore,
    supervisor: Supervisor,
    router: Router,
    sockets: Option<socketioxide::SocketIo>,
    gateway: Option<Arc<Gateway>>,
    config: Config,
    bootstrapped: Bootstrapped,
    address: SocketAddr,
    listener: TcpListener,
}

impl App {
    /// Binds the address, connects everything, brings the schema up to date and makes sure that there is
    /// an administrator.
    ///
    /// # Errors
    /// What cannot be reached or bound.
    pub async fn build(config: Config, metrics: Option<PrometheusHandle>) -> Result<Self, BoxError> {
        let cx = OpContext::system();
        // Before anything is touched: a taken address ends a start that has not run a task or a migration.
        let listen = config.listen;
        let listener = TcpListener::bind(listen).await.map_err(|error| format!("{listen}: {error}"))?;
        let address = listener.local_addr()?;
        let supervisor = Supervisor::default();
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let hasher = PasswordHasher::new(cores, 256);
        let Started { store, webchat, dependencies, keys } = if config.redis.is_some() {
            distributed::start(&config, &cx, &supervisor).await?
        } else {
            embedded::start(&config, &cx, &supervisor).await?
        };
        let store_arc = Arc::new(store.clone());
        if let Some(metrics) = metrics.clone() {
            // Histograms gather samples until somebody looks at them.
            supervisor.periodic("metrics upkeep", METRICS_PERIOD, move || {
                metrics.run_upkeep();
                async {}
            });
        }
        let health = Health::new(all_checks(&store, dependencies), supervisor.intake.clone(), metrics);
        let mut router = health.router();
        if config.roles.api {
            router = router.merge(api::start(&config, &cx, &supervisor, &store_arc, &hasher, keys)?);
        }
        let (mut sockets, mut gateway) = (None, None);
        if let Some(parts) = webchat {
            gateway = Some(Arc::clone(&parts.gateway));
            let (routes, io) = webchat::start(&config, &cx, &supervisor, &store_arc, &hasher, parts);
            router = router.merge(routes);
            sockets = Some(io);
        }
        let router = router
            .fallback(crate::api::not_found)
            .method_not_allowed_fallback(crate::api::method_not_allowed);
        // After everything that can fail: its password is shown once.
        let cost = config.api.login.password_cost;
        let bootstrapped = ensure_administrator(&*store_arc, &cx, &hasher, cost, &config.admin).await?;
        Ok(Self { store, supervisor, router, sockets, gateway, config, bootstrapped, address, listener })
    }

    /// The address it is bound to.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What became of the administrator.
    pub fn bootstrapped(&self) -> &Bootstrapped {
        &self.bootstrapped
    }

    /// The store.
    pub fn store(&self) -> &SqlStore {
        &self.store
    }

    /// The supervisor; cancelling its `intake` stops the server.
    pub fn supervisor(&self) -> &Supervisor {
        &self.supervisor
    }

    /// Serves until the intake is cancelled or a task fails, then stops in order: nothing new, sockets
    /// closed, work finished, statuses passed on, connections closed.
    ///
    /// # Errors
    /// When a task ended early, or the shutdown took longer than it may.
    pub async fn run(self) -> Result<(), BoxError> {
        let timeout = self.config.shutdown_timeout;
        let Self { store, supervisor, router, sockets, gateway, listener, config, .. } = self;
        let shutdown = Shutdown {
            token: supervisor.intake.clone(),
            tracker: supervisor.intake_tracker(),
            drain: timeout / 3,
        };
        let limits = ServeConfig {
            max_connections: config.webchat.max_connections as usize,
            ..ServeConfig::default()
        };
        // Around the router as a whole. CORS answers the OPTIONS of a preflight before it counts as unknown.
        let service = ServiceBuilder::new().layer(Identify).layer(cors::layer()).service(router);
        supervisor.intake("http", async move {
            crate::serve::serve(listener, service, limits, shutdown).await;
        });
        supervisor.intake.cancelled().await;
        tracing::info!("stopping");
        let stop = async {
            if let Some(io) = sockets {
                io.close().await;
            }
            supervisor.close_intake().await;
            supervisor.finish_work().await;
            supervisor.finish_records().await;
            if let Some(gateway) = gateway {
                // Who has not acknowledged by now is given the message again when he is back.
                if tokio::time::timeout(LAST_ACKS, gateway.drain()).await.is_err() {
                    tracing::debug!("acknowledgements are still awaited");
                }
                gateway.flush_statuses().await;
            }
            store.close().await;
        };
        if tokio::time::timeout(timeout, stop).await.is_err() {
            return Err(
                "the shutdown took too long; what was not finished is taken up at the next start".into()
            );
        }
        if supervisor.has_failed() {
            return Err("a task ended early; see the log".into());
        }
        tracing::info!("stopped");
        Ok(())
    }
}

fn all_checks(store: &SqlStore, mut others: Vec<Box<dyn Dependency>>) -> Vec<Box<dyn Dependency>> {
    others.push(Box::new(checks::Database(store.clone())));
    others
}
