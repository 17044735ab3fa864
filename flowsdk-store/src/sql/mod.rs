//! One SQL implementation for SQLite and Postgres.
//!
//! - SQLite: one write connection with `BEGIN IMMEDIATE` (a deferred transaction that reads and then
//!   writes fails at once when another wrote in between, whatever the busy timeout), a pool of
//!   read-only connections, WAL with `synchronous=FULL`. Checkpoints run on a connection of their own, so
//!   that no turn waits for one.
//! - Postgres: READ COMMITTED, rows locked in ascending id order.

mod broker;
mod chat;
mod chat_tag;
mod contact;
mod executor;
mod flow;
mod flow_event;
mod key_value;
mod listener;
mod message;
mod migrations;
mod opt_in;
mod outbox;
mod router;
mod session;
mod session_trace;
mod sole;
mod statement;
mod store;
#[cfg(test)]
mod tests;
mod user;
mod webchat;

pub use broker::SqlBroker;
pub use key_value::SqlKeyValue;
pub use outbox::{OutboxRoutes, RELAY_GROUP};
pub use sole::SoleClaim;
pub use store::{DatabaseUrl, InvalidDatabaseUrl, SqlStore, SqlTx};
