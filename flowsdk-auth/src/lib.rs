//! The administrators and their permissions: users, groups and API clients, passwords and tokens, permissions,
//! password recovery and the audit log (spec A 2.1, 2.7, 4.1, 4.2, 4.10, 5, 6).
//!
//! Without HTTP and SQL: an embedder brings a [`Store`](flowsdk_core::store::Store) and calls the services from
//! their own server. Each service names the repositories it needs as bounds of the store's transaction. An embedder
//! with their own users, who only wants [tokens](token::Tokens) and
//! [API clients and permissions](access::Authenticator), implements [`HasAccess`](access::HasAccess) alone.

pub mod access;
pub mod api_client;
mod attempt;
pub mod audit;
pub mod bootstrap;
pub mod device;
pub mod group;
mod keys;
pub mod login;
pub mod permission;
pub mod principal;
pub mod recovery;
pub mod schedule;
pub mod sms;
#[cfg(feature = "testkit")]
pub mod testkit;
pub mod token;
pub mod user;

/// Compiles the samples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
