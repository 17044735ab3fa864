//! Builds the parts of the product on one ground, runs their tasks and stops them in order.
//!
//! Two set-ups, chosen by whether there is a `REDIS_URL`, differ only in how their ground (`ground.rs`) is made:
//!
//! - *Embedded*: one process. The gateway hands messages straight to the conversation consumer and is
//!   handed the answers after the commit.
//! - *Distributed*: any number of processes over Postgres and Redis. Events go through Redis Streams,
//!   from the outbox by a relay.

mod adapters;
mod agreed;
mod checks;
mod cors;
mod ground;
mod idle;
mod leased;
mod links;
mod parts;

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use flowsdk_auth::bootstrap::{Bootstrapped, ensure_administrator};
use flowsdk_core::fault::{BoxError, Chain};
use flowsdk_core::id::IdSource;
use flowsdk_outside::requests::Requests;
use flowsdk_store::sql::{Claim, SqlStore};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tower::ServiceBuilder;

use crate::api::Identify;
use crate::config::Config;
use crate::serve::{ServeConfig, Shutdown};
use crate::supervisor::Supervisor;
use ground::{Ground, LastActs, Surface};
use parts::{Part, REGISTRY};

pub use crate::supervisor::Pace;
pub use adapters::Adapters;
pub(crate) use agreed::note_rotated;
pub use agreed::{adopt, differing};
pub use ground::DatabaseTaken;
pub(crate) use parts::roles;

/// An application whose tasks run. It has no socket of its own: [`App::serve`] takes a listener, [`App::router`] is
/// for an application around it.
///
/// ```no_run
/// use std::net::SocketAddr;
///
/// use flowsdk_core::fault::BoxError;
/// use flowsdk_server::app::{Adapters, App};
/// use flowsdk_server::config::Config;
///
/// async fn serve(config: Config) -> Result<(), BoxError> {
///     let app = App::build(config, Adapters::system()).await?;
///     let router = axum::Router::new()
///         .route("/", axum::routing::get(async || "a page of yours"))
///         .fallback_service(app.router());
///     let stop = app.supervisor().intake.clone();
///     let running = tokio::spawn(app.run());
///
///     let listener = tokio::net::TcpListener::bind("127.0.0.1:8080").await?;
///     let service = router.into_make_service_with_connect_info::<SocketAddr>(); // limits count by address
///     axum::serve(listener, service).with_graceful_shutdown(stop.clone().cancelled_owned()).await?;
///     stop.cancel();
///     running.await? // everything that was begun is finished
/// }
/// ```
pub struct App {
    store: Arc<SqlStore>,
    supervisor: Supervisor,
    routes: Router,
    front: Router,
    ids: Arc<dyn IdSource>,
    /// Locked by nobody: it lets threads share an app although its last acts are futures.
    acts: Mutex<LastActs>,
    config: Arc<Config>,
    bootstrapped: Option<Bootstrapped>,
    outside: Option<Arc<Requests>>,
    claim: Arc<Claim>,
    sockets_closed: CancellationToken,
}

impl App {
    /// The settings that it was built with.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Binds the address. Before [`App::build`], so that a taken address ends a start that has not run a task or a
    /// migration.
    ///
    /// # Errors
    /// The address is taken or not of this machine.
    pub async fn bind(address: SocketAddr) -> Result<TcpListener, BoxError> {
        Ok(TcpListener::bind(address).await.map_err(|error| match error.kind() {
            ErrorKind::AddrInUse => format!(
                "{address} is in use, perhaps by another server of this kind; choose another port with LISTEN_ADDR, or --listen of demo"
            ),
            _ => format!("{address}: {error}"),
        })?)
    }

    /// Connects everything, brings the schema up to date, starts the tasks of every part whose role the process has,
    /// and makes sure that there is an administrator if the administrative API is among them.
    ///
    /// # Errors
    /// Storage or Redis cannot be reached, or the database is in use by another process without Redis.
    pub async fn build(config: Config, adapters: Adapters) -> Result<Self, BoxError> {
        Self::build_of(REGISTRY, config, adapters).await
    }

    async fn build_of(parts: &[&Part], config: Config, adapters: Adapters) -> Result<Self, BoxError> {
        let config = Arc::new(config);
        let mut ground = if config.redis.is_some() {
            Ground::distributed(Arc::clone(&config), adapters).await?
        } else {
            Ground::embedded(Arc::clone(&config), adapters, parts).await?
        };
        ground.learn_webhooks().await?;
        for part in parts.iter().filter(|part| config.roles.include(part.role)) {
            (part.start)(&mut ground).await?;
        }
        ground.watch(parts);
        // After everything that can fail: its password is shown once.
        let bootstrapped = match &config.administration {
            Some(settings) => {
                let (cost, store) = (config.api.login.password_cost, &*ground.store);
                let admin = &settings.admin;
                Some(ensure_administrator(store, &ground.cx, &ground.hasher, cost, admin).await?)
            }
            None => None,
        };
        let Ground { store, supervisor, surface, adapters, links, claim, .. } = ground;
        let Surface { routes, acts, .. } = surface;
        keep(&claim, &supervisor);
        watch_damage(&store, &supervisor);
        watch_server(&store, &supervisor);
        Ok(Self {
            store,
            supervisor,
            routes,
            front: crate::front::routes(config.administration.is_some()),
            ids: adapters.ids,
            acts: Mutex::new(acts),
            config,
            bootstrapped,
            outside: links.outside,
            claim,
            sockets_closed: CancellationToken::new(),
        })
    }

    /// The result of the search for an administrator; `None` where the administrative API is not among the roles.
    pub fn bootstrapped(&self) -> Option<&Bootstrapped> {
        self.bootstrapped.as_ref()
    }

    /// Returns the store of this app.
    pub fn store(&self) -> &SqlStore {
        &self.store
    }

    /// The supervisor; cancelling its `intake` stops the app.
    pub fn supervisor(&self) -> &Supervisor {
        &self.supervisor
    }

    /// Replaces the page at `/` and the icon of the site, which say no more than that the server runs.
    #[must_use]
    pub fn with_front(self, front: Router) -> Self {
        Self { front, ..self }
    }

    /// Every route, for another axum application or for requests without a socket. The caller is the
    /// `ConnectInfo<SocketAddr>` of the request, or unknown without one; limits for each address then count all
    /// callers as one.
    ///
    /// A program that takes it also calls [`App::run`].
    pub fn router(&self) -> Router {
        self.whole().layer(cors::layer()).layer(self.identify())
    }

    fn identify(&self) -> Identify {
        Identify::new(Arc::clone(&self.ids), self.config.default_language)
    }

    fn whole(&self) -> Router {
        self.routes
            .clone()
            .merge(self.front.clone())
            .fallback(crate::api::not_found)
            .method_not_allowed_fallback(crate::api::method_not_allowed)
    }

    /// Serves on `listener`, as one of the tasks of [`App::run`].
    pub fn listen(&self, listener: TcpListener) {
        let shutdown = Shutdown {
            token: self.supervisor.intake.clone(),
            sockets_closed: self.sockets_closed.clone(),
            tracker: self.supervisor.intake_tracker(),
            drain: self.config.shutdown_timeout / 3,
        };
        let limits = ServeConfig {
            max_connections: self.config.webchat.max_connections as usize,
            ..ServeConfig::default()
        };
        // Around the router as a whole. CORS answers the OPTIONS of a preflight before it counts as unknown.
        let service = ServiceBuilder::new().layer(self.identify()).layer(cors::layer()).service(self.whole());
        self.supervisor.intake("http", async move {
            crate::serve::serve(listener, service, limits, shutdown).await;
        });
    }

    /// Serves on `listener` until the intake is cancelled or a task fails, then stops as [`App::run`] does.
    ///
    /// # Errors
    /// See [`App::run`].
    pub async fn serve(self, listener: TcpListener) -> Result<(), BoxError> {
        self.listen(listener);
        self.run().await
    }

    /// Waits until the intake is cancelled or a task fails, then stops in order: nothing new, sockets closed, work
    /// finished, statuses passed on, connections closed.
    ///
    /// # Errors
    /// When a task ended early, or the shutdown took longer than it may.
    pub async fn run(self) -> Result<(), BoxError> {
        let Self { store, supervisor, acts, config, claim, sockets_closed, .. } = self;
        let LastActs { closing, last } = acts.into_inner().unwrap_or_else(PoisonError::into_inner);
        supervisor.intake.cancelled().await;
        tracing::info!("stopping");
        let stop = async {
            for act in closing {
                act.await;
            }
            sockets_closed.cancel();
            supervisor.close_intake().await;
            supervisor.finish_work().await;
            supervisor.finish_records().await;
            for act in last {
                act.await;
            }
            store.close().await;
            // The tasks that held it too are over.
            if let Some(claim) = Arc::into_inner(claim) {
                claim.release().await;
            }
        };
        if tokio::time::timeout(config.shutdown_timeout, stop).await.is_err() {
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

/// Says once that the database is damaged. The process goes on for those who ask why it is not ready.
fn watch_damage(store: &Arc<SqlStore>, supervisor: &Supervisor) {
    let (store, stop) = (Arc::clone(store), supervisor.work.clone());
    supervisor.work("damage", async move {
        if stop.run_until_cancelled(store.damaged()).await.is_some() {
            tracing::error!(
                "a page of the database's file is malformed: messages are refused until it is restored \
                 (docs/operations.md, Damage)"
            );
            stop.cancelled().await;
        }
    });
}

/// Watches whether the database server answers.
fn watch_server(store: &Arc<SqlStore>, supervisor: &Supervisor) {
    let (store, stop) = (Arc::clone(store), supervisor.work.clone());
    supervisor.work("database watch", async move { store.watch_server(&stop).await });
}

/// Watches the claim on the database. The server stops when another process has it.
fn keep(claim: &Arc<Claim>, supervisor: &Supervisor) {
    let (claim, stop) = (Arc::clone(claim), supervisor.work.clone());
    supervisor.work("claim", async move {
        if let Err(error) = claim.keep(&stop).await {
            tracing::error!(error = %Chain(&error), "the database is not this process's any more");
        }
    });
}

impl std::fmt::Debug for App {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("App").field("config", &self.config).finish_non_exhaustive()
    }
}
