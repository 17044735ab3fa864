//! Conformance suites for adapters of the ports: the duties of every [`Store`](crate::store::Store), every
//! [`Broker`](crate::stream::broker::Broker) and every [`KeyValue`], as tests that the adapter's own crate runs.
//!
//! ```text
//! mod my_broker {
//!     // A fresh, empty broker for each test.
//!     async fn make() -> std::sync::Arc<dyn flowsdk_core::stream::broker::Broker> { .. }
//!     flowsdk_core::broker_conformance!(make);
//! }
//! mod my_store {
//!     async fn make() -> flowsdk_core::testkit::store::StoreUnderTest<MyStore> { .. }
//!     flowsdk_core::store_conformance!(make);
//! }
//! mod my_key_values {
//!     async fn make() -> flowsdk_core::testkit::KeyValueUnderTest { .. }
//!     flowsdk_core::key_value_conformance!(make);
//!     mod leases {
//!         flowsdk_core::lease_conformance!(super::make);
//!     }
//! }
//! ```
//!
//! The maker may also return an `Option`: `None` skips the test, and says so, where the adapter lacks its
//! surroundings (a server, say). Nothing else is needed in the adapter's crate: the tests bring their own runtime.

pub mod blobs;
pub mod broker;
pub mod key_value;
pub mod lease;
pub mod store;
mod suites;
pub mod tail;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use crate::kv::KeyValue;
use crate::time::ManualClock;

/// The longest that a case may take, so that an adapter that waits for ever fails instead.
const LONGEST: Duration = Duration::from_secs(120);

/// A future that a test may hand to another thread.
pub type BoxFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A key-value store and the way to let its time pass.
pub struct KeyValueUnderTest {
    /// The store, fresh and empty.
    pub kv: Arc<dyn KeyValue>,
    advance: Box<dyn Fn(Duration) -> BoxFuture + Send + Sync>,
}

impl fmt::Debug for KeyValueUnderTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyValueUnderTest").field("kv", &self.kv).finish_non_exhaustive()
    }
}

impl KeyValueUnderTest {
    /// A store whose clock is `clock`: no test waits.
    pub fn manual(kv: Arc<dyn KeyValue>, clock: ManualClock) -> Self {
        Self::new(kv, move |step| {
            clock.advance(step);
            Box::pin(std::future::ready(()))
        })
    }

    /// A store with a clock of its own: the tests of times to live really wait, about a second each.
    pub fn real(kv: Arc<dyn KeyValue>) -> Self {
        Self::new(kv, |step| Box::pin(tokio::time::sleep(step)))
    }

    /// A store whose time passes by `advance`.
    pub fn new(
        kv: Arc<dyn KeyValue>,
        advance: impl Fn(Duration) -> BoxFuture + Send + Sync + 'static,
    ) -> Self {
        Self { kv, advance: Box::new(advance) }
    }

    /// Lets `step` pass.
    pub async fn advance(&self, step: Duration) {
        (self.advance)(step).await;
    }
}

/// Runs one case on a fresh adapter; the macros call it.
#[doc(hidden)]
#[allow(clippy::expect_used, reason = "a failed expectation is a failed test")]
#[allow(clippy::print_stderr, reason = "a skipped test must be seen")]
pub fn run<S, M, MF, CF>(name: &str, make: M, case: impl FnOnce(S) -> CF)
where
    M: FnOnce() -> MF,
    MF: Future,
    MF::Output: Into<Option<S>>,
    CF: Future<Output = ()>,
{
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        match make().await.into() {
            Some(subject) => {
                tokio::time::timeout(LONGEST, case(subject)).await.expect("the case ends in time");
            }
            None => eprintln!("skipped {name}: what it needs is not there"),
        }
    });
}

/// The names of the cases in a source file: each public function is one.
pub fn written(source: &str) -> Vec<&str> {
    source
        .lines()
        .filter_map(|line| line.strip_prefix("pub async fn "))
        .filter_map(|rest| rest.split(['(', '<']).next())
        .collect()
}
