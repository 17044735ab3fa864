//! Processes, databases and clients of the tests.

pub mod api;
pub mod client;
pub mod http;
mod log;
mod model_server;
pub mod process;
mod redis;
pub mod seed;
pub mod server;
pub mod setup;
mod terminal;
pub mod token;

use std::time::{Duration, Instant};

pub use api::Api;
pub use client::Client;
pub use model_server::{ModelServer, Step};
pub use redis::PrivateRedis;
pub use server::Server;
pub use setup::{Begins, Services, Setup};
pub use terminal::Terminal;

/// How long anything may take before a test gives up; the machine may be busy.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// Asks again and again until there is an answer.
pub async fn eventually<T, F>(what: &str, ask: impl FnMut() -> F) -> T
where
    F: Future<Output = Option<T>>,
{
    eventually_within(PATIENCE, what, ask).await
}

/// The same with another deadline.
pub async fn eventually_within<T, F>(limit: Duration, what: &str, mut ask: impl FnMut() -> F) -> T
where
    F: Future<Output = Option<T>>,
{
    let deadline = Instant::now() + limit;
    loop {
        if let Some(answer) = ask().await {
            return answer;
        }
        assert!(Instant::now() < deadline, "not within {limit:?}: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Runs each test on both set-ups of processes or, with `in process`, against the application in this process, on SQLite
/// in memory and on Postgres.
macro_rules! everywhere {
    (in process: $($name:ident),+ $(,)?) => { $(
        mod $name {
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn memory() {
                super::$name($crate::harness::Setup::memory().await).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn postgres() {
                if let Some(setup) = $crate::harness::Setup::postgres().await {
                    super::$name(setup).await;
                }
            }
        }
    )+ };
    ($($name:ident),+ $(,)?) => { $(
        mod $name {
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn embedded() {
                super::$name($crate::harness::Setup::embedded().await).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn distributed() {
                if let Some(setup) = $crate::harness::Setup::distributed().await {
                    super::$name(setup).await;
                }
            }
        }
    )+ };
}

pub(crate) use everywhere;
