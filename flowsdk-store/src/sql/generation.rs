//! Tells whether a SQLite database has changed, so that rows already read need not be read again.
//!
//! A SQLite file belongs to one process ([`Claim`](super::Claim) sees to that), and all of its writes go
//! through one connection. SQLite itself names the table of every row that this connection changes, so no
//! statement can be forgotten.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use flowsdk_core::store::Records;

/// The generations of a database.
#[derive(Debug)]
pub(super) struct Generations {
    started: Instant,
    access: Generation,
    routers: Generation,
}

/// How often some tables have changed.
#[derive(Debug, Default)]
struct Generation {
    /// Whether the open transaction has changed them.
    touched: AtomicBool,
    commits: AtomicU64,
}

impl Generations {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            started: Instant::now(),
            access: Generation::default(),
            routers: Generation::default(),
        })
    }

    /// Called for every row that the open transaction writes.
    pub(super) fn touched(&self, table: &str) {
        if let Some(generation) = self.of_table(table) {
            generation.touched.store(true, Ordering::Relaxed);
        }
    }

    fn of_table(&self, table: &str) -> Option<&Generation> {
        match table {
            "user_account" | "user_group" | "api_client" => Some(&self.access),
            "router" => Some(&self.routers),
            _ => None,
        }
    }

    /// Called after every commit, before anybody is told of it.
    pub(super) fn committed(&self) {
        for generation in [&self.access, &self.routers] {
            if generation.touched.swap(false, Ordering::Relaxed) {
                generation.commits.fetch_add(1, Ordering::Release);
            }
        }
    }

    /// The present generation. It also changes every second: another program that writes into the file by hand
    /// is heeded then.
    pub(super) fn of(&self, records: Records) -> u64 {
        let generation = match records {
            Records::Access => &self.access,
            Records::Routers => &self.routers,
        };
        let seconds = self.started.elapsed().as_secs() & 0xffff_ffff;
        generation.commits.load(Ordering::Acquire) << 32 | seconds
    }
}
