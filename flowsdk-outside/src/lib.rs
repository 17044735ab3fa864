//! Adapters for the outside requests of flows.
//!
//! - [`http`]: requests to public servers, over reqwest. The address that is connected to is checked, not the
//!   name, so that no name and no redirect leads into the operator's own network.
//! - [`script`]: scripts in QuickJS, in worker processes that can be killed.

pub mod http;
pub mod requests;
pub mod script;

/// Compiles the samples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
