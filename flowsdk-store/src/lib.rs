//! Adapters of FlowSDK's ports: SQL (SQLite and Postgres, one implementation), Redis, folders and stores of objects,
//! in-process.
//!
//! Nothing outside this crate names a database driver.

pub mod blob;
pub mod memory;
pub mod redis;
pub mod sql;

/// Compiles the samples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
