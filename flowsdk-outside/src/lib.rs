//! Adapters for the outside requests of flows, and for what strangers wrote.
//!
//! - [`http`]: requests to public servers, over reqwest. The address that is connected to is checked, not the
//!   name, so that no name and no redirect leads into the operator's own network.
//! - [`script`]: scripts in QuickJS, in worker processes that can be killed.
//! - `pdf`: the texts of PDFs, each read in a process of its own; with the feature `pdf`.

pub mod http;
#[cfg(feature = "pdf")]
pub mod pdf;
pub mod requests;
pub mod script;

/// Compiles the samples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
