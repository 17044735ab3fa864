//! The conformance suites on the adapters of this crate, and use cases on its databases. The tests on
//! servers need `FLOWSDK_TEST_REDIS=redis://127.0.0.1:6379` (version 7 or later) and
//! `FLOWSDK_TEST_POSTGRES=postgres://postgres@127.0.0.1:5432/postgres`; without them they say that they are
//! skipped. `cargo xtask services -- cargo test -p flowsdk-store` starts both.

mod accounts;
mod agents;
mod auth;
mod blobs;
mod claims;
mod consumer;
mod conversations;
mod dead_letters;
mod deletions;
mod generations;
mod helpdesk;
mod memory;
mod outbox;
mod publishing;
mod redis;
mod search;
mod sql;
mod standstill;
mod support;
mod timers;
mod webchat;
mod webhooks;
