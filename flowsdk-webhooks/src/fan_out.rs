//! Events become deliveries: one for each webhook that takes them.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use flowsdk_core::context::OpContext;
use flowsdk_core::event::WebhookEvent;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::RouterId;
use flowsdk_core::store::{Store, Transaction as _};
use flowsdk_core::stream::broker::Entry;
use flowsdk_core::stream::consumer::{BatchHandler, Verdict, Work};
use flowsdk_core::stream::topic::TopicName;

use crate::delivery::{Delivery, HasDeliveries, of_event};

/// The consumer group of `stream:webhooks`.
pub const WEBHOOKS_GROUP: &str = "webhooks";

/// Turns events into deliveries. An event that comes twice makes them once.
#[derive(Debug)]
pub struct FanOut<S> {
    store: Arc<S>,
    cx: OpContext,
}

impl<S: Store> FanOut<S>
where
    S::Tx: HasDeliveries,
{
    /// Creates a fan-out over `store`.
    pub fn new(store: Arc<S>, cx: OpContext) -> Self {
        Self { store, cx }
    }

    /// Stores the deliveries of events of different conversations.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn take(&self, events: &[&WebhookEvent]) -> Result<(), StorageError> {
        let routers: BTreeSet<RouterId> = events.iter().map(|event| event.router_id.clone()).collect();
        let mut tx = self.store.begin().await?;
        let webhooks = tx.deliveries().webhooks_of(&routers.into_iter().collect::<Vec<_>>()).await?;
        let mut deliveries: Vec<Delivery> = Vec::new();
        for event in events {
            let takes = webhooks.iter().filter(|webhook| webhook.router_id == event.router_id);
            let takes = takes.filter(|webhook| webhook.takes(event.r#type));
            deliveries.extend(takes.map(|webhook| of_event(event, &webhook.id, self.cx.ids())));
        }
        if !deliveries.is_empty() {
            tx.deliveries().append(&deliveries, self.cx.now()).await?;
            tx.commit().await?;
        }
        Ok(())
    }
}

#[async_trait]
impl<S: Store> BatchHandler for FanOut<S>
where
    S::Tx: HasDeliveries,
{
    type Event = WebhookEvent;
    type Output = ();

    fn parse(&self, _topic: TopicName, entry: &Entry) -> Result<WebhookEvent, String> {
        serde_json::from_str(&entry.payload).map_err(|error| error.to_string())
    }

    async fn handle(&self, batch: &[Work<WebhookEvent, ()>]) -> Vec<Verdict<()>> {
        let events: Vec<&WebhookEvent> = batch.iter().map(|work| work.event()).collect();
        Verdict::of_write(batch.len(), &self.take(&events).await)
    }
}
