//! The dispatcher with handlers of both shapes.

mod batches;
mod pieces;

use std::sync::{Arc, Mutex};

use async_trait::async_trait;

use super::work::Ownership;
use crate::fault::StorageError;
use crate::stream::dead_letter::{DeadLetterSink, FailedEntry};

fn ownership() -> Arc<Ownership> {
    let (alive, reading, beginning) = Default::default();
    Arc::new(Ownership { alive, reading, beginning })
}

/// Keeps dead letters in memory.
#[derive(Debug, Default)]
struct Letters(Mutex<Vec<FailedEntry>>);

#[async_trait]
impl DeadLetterSink for Letters {
    async fn record(&self, entry: &FailedEntry) -> Result<(), StorageError> {
        self.0.lock().expect("a lock").push(entry.clone());
        Ok(())
    }
}
