//! The domain of FlowSDK without I/O: conversations, flows and their engine, the streams
//! between the parts, and the ports that storage, brokers and channels implement.
//!
//! A conversation is a [`session`] of a [`contact`] on a channel. Its messages arrive as [`event::IncomingEvent`]s,
//! the [`conversation`] service turns each into one *turn*: it stores the message, runs the [`flow`] engine, stores
//! the engine's answers and commits once. Everything that reaches the outside world (sockets, providers, other
//! processes) is an event of that same commit.
//!
//! Nothing here names SQL, Redis, HTTP or a socket. Embedders bring their own adapters for
//! [`store::Store`], [`stream::broker::Broker`] and [`kv::KeyValue`] and prove them with the
//! conformance suites behind the `testkit` feature.

// The derives name this crate, and this crate uses them too.
extern crate self as flowsdk_core;

pub mod admin;
pub mod aside;
pub mod broadcast;
pub mod cell;
pub mod change;
pub mod channel;
pub mod chat;
pub mod contact;
pub mod context;
pub mod conversation;
pub mod credential;
pub mod crypto;
pub mod default;
#[doc(hidden)]
pub mod derive;
pub mod event;
pub mod event_definition;
pub mod fair_queue;
pub mod fault;
pub mod flow;
pub mod id;
pub mod idempotency;
pub mod in_use;
pub mod integration;
pub mod kv;
pub mod lease;
pub mod loader;
pub mod login_schedule;
pub mod media;
pub mod message;
pub mod name;
pub mod observability;
pub mod page;
pub mod patch;
pub mod place;
pub mod prelude;
pub mod record;
pub mod router;
pub mod saved_filter;
pub mod schema;
pub mod session;
pub mod store;
pub mod stream;
#[cfg(feature = "testkit")]
pub mod testkit;
pub mod text;
pub mod time;
pub mod transfer;
pub mod variable;
pub mod words;

/// Compiles the samples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The samples of the guide compile.
#[cfg(doctest)]
#[doc = include_str!("../../docs/consumers.md")]
mod consumers_guide {}
