//! The whole server from outside: the real binary, real sockets, real databases.
//!
//! Every test starts processes of its own, on one of two set-ups: *embedded* (one process, SQLite) and
//! *distributed* (Postgres and Redis, one or more processes). `cargo xtask test` starts what they need; without
//! `FLOWSDK_TEST_POSTGRES` and `FLOWSDK_TEST_REDIS` the distributed ones say that they are skipped.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::disallowed_methods,
    unreachable_pub,
    reason = "a failed step fails the test; figures and skips are printed"
)]

mod harness;

mod api;
mod auth;
mod composition;
mod crash;
mod delivery;
mod history;
mod messages;
mod operation;
mod outside;
mod rotation;
