//! Who administers, and what each may do: users, groups and API clients, passwords and tokens, permissions,
//! password recovery and the audit log (spec A 2.1, 2.7, 4.1, 4.2, 4.10, 5, 6).
//!
//! Without HTTP and SQL: an embedder brings a [`Store`](flowsdk_core::store::Store) whose transaction
//! implements [`AuthTx`], and calls the services from whatever server it has.

pub mod access;
pub mod api_client;
pub mod audit;
pub mod bootstrap;
pub mod device;
pub mod group;
pub mod permission;
pub mod principal;
pub mod recovery;
pub mod schedule;
mod store;
#[cfg(feature = "testkit")]
pub mod testkit;
pub mod user;

pub use store::AuthTx;
