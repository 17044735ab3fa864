//! What becomes of tickets by themselves: abandoned ones, and those whose session is gone.

use std::sync::Arc;

use flowsdk_core::context::OpContext;
use flowsdk_core::fault::StorageError;
use flowsdk_core::store::{Store, Transaction};
use flowsdk_core::stream::outbox::HasOutbox;

use super::steps::close_all;
use crate::news::HasNews;
use crate::ticket::{CloseKind, Closing, HasTickets, Ticket};

/// Most tickets of one transaction.
const AT_ONCE: u32 = 200;

/// Closes tickets that nobody closes.
#[derive(Debug)]
pub struct DeskSweep<S> {
    store: Arc<S>,
    cx: OpContext,
}

impl<S: Store> DeskSweep<S>
where
    S::Tx: HasTickets + HasOutbox + HasNews,
{
    /// Creates the sweep over `store`.
    pub fn new(store: Arc<S>, cx: OpContext) -> Self {
        Self { store, cx }
    }

    /// Closes waiting tickets whose contact has written nothing for as long as their queue allows (rulings D3), and open
    /// tickets whose session is gone or was given to another owner. Returns how many it closed.
    ///
    /// # Errors
    /// What was closed before stays closed.
    pub async fn tick(&self) -> Result<usize, StorageError> {
        let abandoned = self.close(CloseKind::Abandoned).await?;
        Ok(abandoned + self.close(CloseKind::System).await?)
    }

    async fn close(&self, kind: CloseKind) -> Result<usize, StorageError> {
        let mut closed = 0;
        loop {
            let now = self.cx.now();
            let mut tx = self.store.begin().await?;
            let found: Vec<Ticket> = match kind {
                CloseKind::Abandoned => tx.tickets().claim_abandoned(now, AT_ONCE).await?,
                _ => tx.tickets().claim_lost(AT_ONCE).await?,
            };
            let is_last = found.len() < AT_ONCE as usize;
            if !found.is_empty() {
                closed += close_all(&mut tx, found, &Closing::by_system(kind), now).await?.len();
                tx.commit().await?;
            }
            if is_last {
                return Ok(closed);
            }
        }
    }
}
