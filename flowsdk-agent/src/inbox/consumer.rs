//! The consumer of the stream.

use std::sync::Arc;

use async_trait::async_trait;
use flowsdk_core::context::OpContext;
use flowsdk_core::event::AgentEvent;
use flowsdk_core::fault::StorageError;
use flowsdk_core::store::{Store, Transaction as _};
use flowsdk_core::stream::broker::Entry;
use flowsdk_core::stream::consumer::{BatchHandler, Verdict, Work};
use flowsdk_core::stream::topic::TopicName;
use sha2::{Digest as _, Sha256};
use tokio::sync::Notify;

use super::{HasInbox, Letter};

/// The consumer group on `stream:agent`.
pub const AGENT_GROUP: &str = "agent";

/// An event of the stream, with what tells a delivery of the same one.
#[derive(Debug, Clone)]
pub struct Delivered {
    key: String,
    event: AgentEvent,
}

impl Delivered {
    /// Reads an entry of the stream. One that is delivered again is the same to the letter.
    ///
    /// # Errors
    /// The entry is no event.
    pub fn read(payload: &str) -> Result<Self, serde_json::Error> {
        let event = serde_json::from_str(payload)?;
        Ok(Self { key: hex::encode(Sha256::digest(payload)), event })
    }
}

/// Moves events of the stream into the inbox.
#[derive(Debug)]
pub struct AgentInbox<S> {
    store: Arc<S>,
    cx: OpContext,
    /// Tells the executor of this process, if it has one, that there is something to do.
    arrived: Arc<Notify>,
}

impl<S: Store> AgentInbox<S>
where
    S::Tx: HasInbox,
{
    /// Creates a consumer that fills the inbox of `store`, and rings `arrived` then.
    pub fn new(store: Arc<S>, cx: OpContext, arrived: Arc<Notify>) -> Self {
        Self { store, cx, arrived }
    }

    /// Puts events into the inbox in one commit. An event that comes again changes nothing.
    ///
    /// # Errors
    /// Nothing of them was committed.
    pub async fn put(&self, delivered: impl IntoIterator<Item = Delivered>) -> Result<(), StorageError> {
        let now = self.cx.now();
        let letter = |Delivered { key, event }: Delivered| Letter::of(event, key, self.cx.ids(), now);
        let letters: Vec<Letter> = delivered.into_iter().map(letter).collect();
        let mut tx = self.store.begin().await?;
        tx.inbox().put(&letters).await?;
        tx.commit().await?;
        self.arrived.notify_one();
        Ok(())
    }
}

#[async_trait]
impl<S: Store> BatchHandler for AgentInbox<S>
where
    S::Tx: HasInbox,
{
    type Event = Delivered;
    type Output = ();

    fn parse(&self, _topic: TopicName, entry: &Entry) -> Result<Delivered, String> {
        Delivered::read(&entry.payload).map_err(|error| error.to_string())
    }

    async fn handle(&self, batch: &[Work<Delivered, ()>]) -> Vec<Verdict<()>> {
        let delivered: Vec<Delivered> = batch.iter().map(|work| work.event().clone()).collect();
        Verdict::of_write(batch.len(), &self.put(delivered).await)
    }
}
