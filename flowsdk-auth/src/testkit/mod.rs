//! Conformance suite for stores: the duties of every [`Store`](flowsdk_core::store::Store) whose transaction is an
//! [`AuthTx`], as tests that the store's own crate runs.
//!
//! ```text
//! mod my_store {
//!     async fn make() -> flowsdk_core::testkit::store::StoreUnderTest<MyStore> { .. }
//!     flowsdk_auth::auth_store_conformance!(make);
//! }
//! ```
//!
//! The maker returns a fresh, empty store for each test, or an `Option` of one (see [`flowsdk_core::testkit`]).
#![allow(clippy::expect_used, reason = "a failed expectation is a failed test")]

mod access;
mod api_clients;
mod audit;
mod audit_filters;
mod devices;
mod groups;
mod idempotency;
mod recoveries;
mod suite;
mod tx;
mod users;
mod world;

pub use access::*;
pub use api_clients::*;
pub use audit::*;
pub use audit_filters::*;
pub use devices::*;
pub use groups::*;
pub use idempotency::*;
pub use recoveries::*;
pub use tx::AuthTx;
pub use users::*;

#[doc(hidden)]
pub use flowsdk_core;

/// The names of the cases.
pub const CASES: &[&str] = crate::__auth_store_cases! { (flowsdk_core::__conformance_names) };

/// The files of the cases, in the order of the list.
#[cfg(test)]
const SOURCES: &[&str] = &[
    include_str!("users.rs"),
    include_str!("groups.rs"),
    include_str!("api_clients.rs"),
    include_str!("devices.rs"),
    include_str!("recoveries.rs"),
    include_str!("access.rs"),
    include_str!("audit.rs"),
    include_str!("audit_filters.rs"),
    include_str!("idempotency.rs"),
];
