//! The whole server from outside: the real binary, real sockets, real databases.
//!
//! Tests of resources run the application in this process, on SQLite in memory and on Postgres (`everywhere!(in
//! process: ..)`). Tests about processes, crashes, sockets, delivery and roles, and one of each resource, start processes
//! on one of two set-ups: *embedded* (one process, SQLite) and *distributed* (Postgres and Redis, one or more
//! processes). `cargo xtask test` starts the services; without `FLOWSDK_TEST_POSTGRES` and `FLOWSDK_TEST_REDIS` the
//! tests that need one say that they are skipped.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::disallowed_methods,
    unreachable_pub,
    reason = "a failed step fails the test; figures and skips are printed"
)]

mod harness;

mod agent_command;
mod agent_crash;
mod agents;
mod ai_figures;
mod api;
mod assistant;
mod attachments;
mod auth;
mod composition;
mod crash;
mod delivery;
mod deploy;
mod desk_command;
mod desk_crash;
mod ends;
mod flow_command;
mod handshakes;
mod history;
mod messages;
mod operation;
mod operators;
mod outside;
mod phone;
mod readme;
mod request_log;
mod rotation;
mod senses;
mod sms;
mod traces;
mod tutorial;
mod upgrade;
