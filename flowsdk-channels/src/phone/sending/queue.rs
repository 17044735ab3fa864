//! The consumer of `stream:outgoing-phone`: it puts messages into the queue.

use std::sync::Arc;

use async_trait::async_trait;
use flowsdk_core::context::OpContext;
use flowsdk_core::event::OutgoingEvent;
use flowsdk_core::fault::StorageError;
use flowsdk_core::store::{Store, Transaction as _};
use flowsdk_core::stream::broker::Entry;
use flowsdk_core::stream::consumer::{BatchHandler, Verdict, Work};
use flowsdk_core::stream::topic::TopicName;
use tokio::sync::Notify;

use super::outbound::HasOutbound;

/// The consumer group on `stream:outgoing-phone`.
pub const OUTBOUND_GROUP: &str = "phone-sender";

/// Puts messages into the queue.
#[derive(Debug)]
pub struct OutboundQueue<S> {
    store: Arc<S>,
    cx: OpContext,
    /// Tells the sender of this process, if it has one, that there is something to send.
    arrived: Arc<Notify>,
}

impl<S: Store> OutboundQueue<S>
where
    S::Tx: HasOutbound,
{
    /// Creates a consumer that fills the queue of `store`, and rings `arrived` then.
    pub fn new(store: Arc<S>, cx: OpContext, arrived: Arc<Notify>) -> Self {
        Self { store, cx, arrived }
    }

    async fn enqueue(&self, events: &[&OutgoingEvent]) -> Result<(), StorageError> {
        let mut tx = self.store.begin().await?;
        tx.outbound().enqueue(events, self.cx.now()).await?;
        tx.commit().await
    }
}

#[async_trait]
impl<S: Store> BatchHandler for OutboundQueue<S>
where
    S::Tx: HasOutbound,
{
    type Event = OutgoingEvent;
    type Output = ();

    fn parse(&self, _topic: TopicName, entry: &Entry) -> Result<OutgoingEvent, String> {
        serde_json::from_str(&entry.payload).map_err(|error| error.to_string())
    }

    async fn handle(&self, batch: &[Work<OutgoingEvent, ()>]) -> Vec<Verdict<()>> {
        let events: Vec<&OutgoingEvent> = batch.iter().map(|work| work.event()).collect();
        let written = self.enqueue(&events).await;
        if written.is_ok() {
            self.arrived.notify_one();
        }
        Verdict::of_write(batch.len(), &written)
    }
}
