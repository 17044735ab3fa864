//! Adapters of FlowSDK's ports: SQL (SQLite and Postgres, one implementation), Redis, in-process.
//!
//! Nothing outside this crate names a database driver.

pub mod memory;
pub mod redis;
pub mod sql;
