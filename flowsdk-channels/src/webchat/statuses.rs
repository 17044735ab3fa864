//! Statuses of outgoing messages that the gateway reports, gathered and passed on in batches.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use flowsdk_core::chat::HasChats;
use flowsdk_core::contact::HasOptIns;
use flowsdk_core::conversation::MessagePersister;
use flowsdk_core::event::StatusEvent;
use flowsdk_core::fault::Chain;
use flowsdk_core::message::HasMessages;
use flowsdk_core::store::Store;
use flowsdk_core::stream::broker::{Broker, NewEntry};
use flowsdk_core::stream::outbox::HasOutbox;
use flowsdk_core::stream::topic::Status;

/// The destination of delivery statuses.
#[async_trait]
pub trait StatusSink: Send + Sync + std::fmt::Debug {
    /// Passes a batch on.
    ///
    /// # Errors
    /// A reason; the batch is kept and passed on again.
    async fn pass(&self, events: &[StatusEvent]) -> Result<(), String>;
}

/// Statuses of one transaction: turns wait no longer than it takes.
const AT_ONCE: usize = 512;

/// Straight into the rows, where the store is at hand.
#[derive(Debug)]
pub struct StoreStatuses<S>(pub MessagePersister<S>);

#[async_trait]
impl<S: Store> StatusSink for StoreStatuses<S>
where
    S::Tx: HasMessages + HasChats + HasOptIns + HasOutbox,
{
    async fn pass(&self, events: &[StatusEvent]) -> Result<(), String> {
        for some in events.chunks(AT_ONCE) {
            let some: Vec<&StatusEvent> = some.iter().collect();
            self.0.apply(&some).await.map_err(|error| Chain(&error).to_string())?;
        }
        Ok(())
    }
}

/// Appends statuses to `stream:status`.
#[derive(Debug)]
pub struct StreamStatuses(pub Arc<dyn Broker>);

#[async_trait]
impl StatusSink for StreamStatuses {
    async fn pass(&self, events: &[StatusEvent]) -> Result<(), String> {
        let entries: Vec<NewEntry> = events.iter().map(NewEntry::of::<Status>).collect();
        self.0.publish(&entries).await.map_err(|error| Chain(&error).to_string())
    }
}

/// Most statuses kept while the sink is away; beyond it the oldest are dropped and counted. A row that
/// misses one says less than is true, nothing else.
const CAPACITY: usize = 200_000;

/// Statuses on their way to a sink.
#[derive(Debug)]
pub struct StatusQueue {
    waiting: Mutex<Vec<StatusEvent>>,
    sink: Arc<dyn StatusSink>,
}

impl StatusQueue {
    /// A queue before `sink`.
    pub fn new(sink: Arc<dyn StatusSink>) -> Self {
        Self { waiting: Mutex::default(), sink }
    }

    /// Adds a status; it goes on with the next [`StatusQueue::flush`].
    pub fn push(&self, event: StatusEvent) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() >= CAPACITY {
            waiting.drain(..CAPACITY / 10);
            metrics::counter!("flowsdk_webchat_statuses_dropped").increment((CAPACITY / 10) as u64);
        }
        waiting.push(event);
    }

    /// Passes everything on; an idempotent tick. Statuses that the sink does not take wait in front.
    pub async fn flush(&self) {
        let batch = std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner));
        if batch.is_empty() {
            return;
        }
        if let Err(error) = self.sink.pass(&batch).await {
            tracing::warn!(error, statuses = batch.len(), "statuses wait");
            let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            let later = std::mem::replace(&mut *waiting, batch);
            waiting.extend(later);
        }
    }
}
