//! The cases of [`store_conformance!`](crate::store_conformance), one file for each aggregate.
#![allow(clippy::expect_used, reason = "a failed expectation is a failed test")]

mod attention;
mod building;
mod chats;
mod connections;
mod contacts;
mod dead_letters;
mod flows;
mod histories;
mod media;
mod messages;
mod people;
mod record;
mod records;
mod routers;
mod sessions;
mod statuses;
mod transactions;
mod tx;
pub(super) mod world;

use std::fmt::Debug;
use std::future::Future;
use std::sync::Arc;

use crate::store::Store;
use crate::stream::broker::Broker;

pub use attention::*;
pub use building::*;
pub use chats::*;
pub use connections::*;
pub use contacts::*;
pub use dead_letters::*;
pub use flows::*;
pub use histories::*;
pub use media::*;
pub use messages::*;
pub use people::*;
pub use record::Samples;
pub use records::*;
pub use routers::*;
pub use sessions::*;
pub use statuses::*;
pub use transactions::*;
pub use tx::StoreTx;

/// The names of the cases.
pub const CASES: &[&str] = crate::__store_cases! { (crate::__conformance_names) };

/// The files of the cases, in the order of the list.
#[cfg(test)]
pub(super) const SOURCES: &[&str] = &[
    include_str!("contacts.rs"),
    include_str!("chats.rs"),
    include_str!("routers.rs"),
    include_str!("flows.rs"),
    include_str!("sessions.rs"),
    include_str!("histories.rs"),
    include_str!("attention.rs"),
    include_str!("messages.rs"),
    include_str!("statuses.rs"),
    include_str!("media.rs"),
    include_str!("records.rs"),
    include_str!("transactions.rs"),
    include_str!("people.rs"),
    include_str!("building.rs"),
    include_str!("connections.rs"),
    include_str!("dead_letters.rs"),
];

/// A store, and the streams that its outbox ends in.
#[derive(Debug)]
pub struct StoreUnderTest<S> {
    /// The store, fresh and empty.
    pub store: Arc<S>,
    /// Passes the outbox entries of commits of `store` to the groups of [`broker::GROUPS`](super::broker::GROUPS).
    pub streams: Arc<dyn Broker>,
    pub(super) one_connection: bool,
}

impl<S: Store> StoreUnderTest<S> {
    /// A store whose transactions run side by side.
    pub fn new(store: Arc<S>, streams: Arc<dyn Broker>) -> Self {
        Self { store, streams, one_connection: false }
    }

    /// A store with one connection for everything: a transaction waits for the end of the one before.
    pub fn of_one_connection(store: Arc<S>, streams: Arc<dyn Broker>) -> Self {
        Self { one_connection: true, ..Self::new(store, streams) }
    }
}

/// The result of a maker: a store, or an `Option` of one.
pub trait MaybeStore {
    /// The type of the store.
    type Store: Store;
    /// It, if it is there.
    fn there(self) -> Option<StoreUnderTest<Self::Store>>;
}

impl<S: Store> MaybeStore for StoreUnderTest<S> {
    type Store = S;
    fn there(self) -> Option<Self> {
        Some(self)
    }
}

impl<S: Store> MaybeStore for Option<StoreUnderTest<S>> {
    type Store = S;
    fn there(self) -> Self {
        self
    }
}

/// Runs one case on a fresh store; the macro calls it.
#[doc(hidden)]
pub fn run<M, MF, CF>(
    name: &str,
    make: M,
    case: impl FnOnce(StoreUnderTest<<MF::Output as MaybeStore>::Store>) -> CF,
) where
    M: FnOnce() -> MF,
    MF: Future,
    MF::Output: MaybeStore,
    CF: Future<Output = ()>,
{
    super::run(name, || async { make().await.there() }, case);
}
