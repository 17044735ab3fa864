//! The application in process, for tests: a clock that is turned by hand, ids that repeat, requests without a socket.
//!
//! ```
//! # async fn example() -> Result<(), flowsdk_core::fault::BoxError> {
//! use std::time::Duration;
//!
//! use flowsdk_server::testkit::TestApp;
//! use http::Request;
//!
//! let app = TestApp::start(TestApp::configuration(&[])?).await?;
//! let answer = app.send(Request::get("/healthz").body(axum::body::Body::empty())?).await;
//! assert_eq!(answer.body(), "ok");
//! app.advance(Duration::from_secs(24 * 60 * 60)).await; // everything that is due within a day is done
//! # Ok(())
//! # }
//! ```

mod ids;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::ConnectInfo;
use flowsdk_core::fault::BoxError;
use flowsdk_core::time::Clock as _;
use flowsdk_core::time::{ManualClock, SystemClock};
use flowsdk_store::sql::SqlStore;
use http::{Request, Response};
use tokio::net::TcpListener;
use tokio::time::Instant;
use tower::ServiceExt as _;

use crate::app::{Adapters, App, Pace};
use crate::config::{Config, ConfigError, Environment};

pub use ids::ScriptedIds;

/// How long [`TestApp::settle`] waits, in real time.
const PATIENCE: Duration = Duration::from_secs(30);
/// The pause between two looks at the work that still runs.
const LOOK: Duration = Duration::from_millis(1);
/// Most bytes of an answer.
const MOST_BYTES: usize = 64 << 20;
/// The caller of requests.
const CALLER: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 4_000);

/// The values that [`TestApp::configuration`] begins with.
const VALUES: [(&str, &str); 5] = [
    ("DATABASE_URL", "sqlite::memory:"),
    ("CRYPTO_SECRET", "0123456789abcdef0123456789abcdef"),
    ("JWT_ACCESS_SECRET", "access-secret-of-a-test"),
    ("JWT_REFRESH_SECRET", "refresh-secret-of-a-test"),
    ("ADMIN_PASSWORD", "password-of-a-test"),
];

/// An application whose time stands until [`TestApp::advance`].
///
/// Consumers run as they do in a server; periodic work runs in [`TestApp::settle`] only.
#[derive(Debug)]
pub struct TestApp {
    app: App,
    clock: ManualClock,
}

impl TestApp {
    /// A configuration on SQLite in memory with secrets of its own; `values` replace them or add to them.
    ///
    /// # Errors
    /// Every problem of the values.
    pub fn configuration(values: &[(&str, &str)]) -> Result<Config, ConfigError> {
        let find = |name: &str| {
            let found = values.iter().chain(&VALUES).find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        Config::read(Environment::new(find))
    }

    /// Adapters with a clock that begins at the present moment and stands, and ids of `seed`.
    pub fn adapters(seed: u64) -> (Adapters, ManualClock) {
        let clock = ManualClock::default();
        clock.set(SystemClock.now());
        let ids = Arc::new(ScriptedIds::new(clock.clone(), seed));
        let pace = Pace::ByHand;
        (Adapters { clock: Arc::new(clock.clone()), ids, pace, ..Adapters::system() }, clock)
    }

    /// An application of this configuration, with the adapters of a test.
    ///
    /// # Errors
    /// As [`App::build`].
    pub async fn start(config: Config) -> Result<Self, BoxError> {
        let (adapters, clock) = Self::adapters(0);
        Self::start_with(config, adapters, clock).await
    }

    /// An application with other adapters. Their clock is `clock`, and their pace [`Pace::ByHand`] if
    /// [`TestApp::settle`] is to run periodic work.
    ///
    /// # Errors
    /// As [`App::build`].
    pub async fn start_with(
        config: Config,
        adapters: Adapters,
        clock: ManualClock,
    ) -> Result<Self, BoxError> {
        Ok(Self { app: App::build(config, adapters).await?, clock })
    }

    /// The clock of the application.
    pub fn clock(&self) -> &ManualClock {
        &self.clock
    }

    /// The store of the application.
    pub fn store(&self) -> &SqlStore {
        self.app.store()
    }

    /// The answer to a request from the address 127.0.0.1.
    ///
    /// # Panics
    /// The body of the answer cannot be read, or has more than 64 MiB.
    pub async fn send(&self, mut request: Request<Body>) -> Response<Bytes> {
        request.extensions_mut().insert(ConnectInfo(CALLER));
        let Ok(response) = self.app.router().oneshot(request).await;
        let (parts, body) = response.into_parts();
        let body = axum::body::to_bytes(body, MOST_BYTES).await;
        Response::from_parts(parts, body.unwrap_or_else(|error| panic!("no body: {error}")))
    }

    /// Serves on a socket too, for clients that need one.
    pub fn listen(&self, listener: TcpListener) {
        self.app.listen(listener);
    }

    /// Runs periodic work and waits until no event waits for a consumer of this application, no request of a flow is
    /// under way and no timer is due.
    ///
    /// An event that failed is tried again after a pause of the application's clock, so it may need
    /// [`TestApp::advance`].
    ///
    /// # Panics
    /// After 30 seconds of real time.
    pub async fn settle(&self) {
        let end = Instant::now() + PATIENCE;
        loop {
            self.app.supervisor().tick().await;
            match self.app.is_idle(self.clock.now()).await {
                Ok(true) => return,
                Ok(false) => {}
                Err(error) => panic!("the application cannot be looked at: {error}"),
            }
            assert!(Instant::now() < end, "the application does not come to rest");
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Moves the clock on by `step`, then settles. Periodic work of the time between runs once.
    pub async fn advance(&self, step: Duration) {
        self.clock.advance(step);
        self.settle().await;
    }

    /// Stops in order, as a server does.
    ///
    /// # Errors
    /// As [`App::run`].
    pub async fn stop(self) -> Result<(), BoxError> {
        self.app.supervisor().intake.cancel();
        self.app.run().await
    }
}

#[cfg(test)]
mod tests;
