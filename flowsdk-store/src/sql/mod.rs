//! One SQL implementation for SQLite and Postgres.
//!
//! - SQLite: one write connection with `BEGIN IMMEDIATE` (a deferred transaction that reads and then
//!   writes fails at once when another wrote in between, whatever the busy timeout), a pool of
//!   read-only connections, WAL with `synchronous=FULL` unless the address says otherwise. Checkpoints run on a
//!   connection of their own, so that no turn waits for one. A database in memory has the write connection alone.
//! - Postgres: READ COMMITTED, rows locked in ascending id order; reading has connections of its own that
//!   refuse to write, and needs no transaction.

mod access;
mod accessor;
mod agent_group;
mod announced;
mod api_client;
mod audit;
mod backup;
mod bind;
mod board;
mod broadcast_intent;
mod broker;
mod channel;
mod channel_number;
mod channel_transfer;
mod channel_type_mapping;
mod chat;
mod chat_catalog;
mod chat_tag;
mod claim;
mod close_reason;
mod contact;
mod contact_catalog;
mod contact_insight;
mod contact_rows;
mod contact_search;
mod damage;
mod dead_letter;
mod desk_agent;
mod desk_news;
mod desk_view;
mod dispatch_agent;
mod distribution_rule;
mod event_definition;
mod executor;
mod flow;
mod flow_catalog;
mod flow_event;
mod generation;
mod group;
mod idempotency;
mod import_draft;
mod integration;
mod interactive_form;
mod key_value;
mod list;
mod listener;
mod live_session;
mod llm_credential;
mod login_schedule;
mod media;
mod message;
mod migrations;
mod monitoring;
mod names;
mod note;
mod observability;
mod opt_in;
mod opt_in_catalog;
mod outbound;
mod outbox;
mod password_recovery;
mod phone_account;
mod postgres_tx;
mod private;
mod provider_template;
mod published;
mod pulse;
mod queue;
mod quick_reply;
mod record;
mod references;
mod report;
mod rotation;
mod router;
mod router_catalog;
mod router_record;
mod row;
mod saved_filter;
mod schema;
mod session;
mod session_catalog;
mod session_history;
mod session_trace;
mod sqlite;
mod statement;
mod store;
mod stuck_handoff;
mod tag;
mod template;
#[cfg(test)]
mod tests;
mod ticket;
mod url;
mod user;
mod user_device;
mod variable;
mod webchat;
mod webchat_catalog;
mod webhook;
mod webhook_delivery;

pub use backup::BackupError;
pub use broker::SqlBroker;
pub use claim::{Claim, ClaimError, Hold};
pub use key_value::SqlKeyValue;
pub use outbox::OutboxRoutes;
pub use rotation::RotatedColumn;
pub use schema::SchemaState;
pub use store::{SqlStore, SqlTx};
pub use url::{DatabaseUrl, InvalidDatabaseUrl, Synchronous};
