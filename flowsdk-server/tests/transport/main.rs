//! The transport over real connections: the accept loop and the socket layer, without the rest of the server.
//!
//! The official suites are a binary of their own (`conformance`): their heartbeats of 300 ms want the machine alone.
#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

mod support;

mod accept;
mod sockets;
