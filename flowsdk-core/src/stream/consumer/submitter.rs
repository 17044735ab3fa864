//! The way into a consumer from within the process.

use std::sync::Arc;

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, mpsc, oneshot};

use super::work::{Item, Task, TaskOf};
use super::{Backpressure, BatchHandler};

/// Why submitted work was not done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SubmitError {
    /// The consumer is stopping or cannot reach its storage; submit it again later.
    #[error("the consumer cannot take the event now")]
    Unavailable,
    /// The event failed for good and was recorded.
    #[error("the event failed and was set aside")]
    SetAside,
    /// The event failed for good and was not recorded: only its submitter has it.
    #[error("the event failed")]
    Failed,
}

/// Passes events to a consumer of the same process.
#[derive(Debug)]
pub struct Submitter<H: BatchHandler> {
    pub(super) inbox: mpsc::Sender<TaskOf<H>>,
    /// Tells the dispatcher that a partition was left.
    pub(super) left: Arc<Notify>,
    /// The room of classes below the first.
    pub(super) lower: Arc<Semaphore>,
    pub(super) backpressure: Backpressure,
}

impl<H: BatchHandler> Clone for Submitter<H> {
    fn clone(&self) -> Self {
        Self {
            inbox: self.inbox.clone(),
            left: Arc::clone(&self.left),
            lower: Arc::clone(&self.lower),
            backpressure: self.backpressure.clone(),
        }
    }
}

impl<H: BatchHandler> Submitter<H> {
    /// Hands over an event and waits until its effects are durable. Events of one key that are
    /// submitted one after the other (each after the answer, or in order from one task) run in that
    /// order, each as a piece of work of its own.
    ///
    /// # Errors
    /// Any [`SubmitError`].
    pub async fn submit(&self, key: impl Into<String>, event: H::Event) -> Result<H::Output, SubmitError> {
        self.enqueue(key, event).await?.await.map_err(|_| SubmitError::Unavailable)?
    }

    /// Hands over an event; the answer comes later. The order of enqueueing is the order of running.
    ///
    /// # Errors
    /// [`SubmitError::Unavailable`].
    pub async fn enqueue(
        &self,
        key: impl Into<String>,
        event: H::Event,
    ) -> Result<oneshot::Receiver<Result<H::Output, SubmitError>>, SubmitError> {
        let (reply, answer) = oneshot::channel();
        let item = Item { reply: Some(reply), ..Item::new(key.into(), event) };
        self.inbox.send(Task::Event(Box::new(item))).await.map_err(|_| SubmitError::Unavailable)?;
        Ok(answer)
    }

    /// Returns the parties whose events are to be refused before they are submitted or published. Those that come all
    /// the same are taken.
    pub fn backpressure(&self) -> &Backpressure {
        &self.backpressure
    }

    /// Waits for room for an entry of a class below the first.
    pub(super) async fn room(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.lower).acquire_owned().await.ok()
    }
}
