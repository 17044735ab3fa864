//! What turns use is noted with each step, and counted by the review.

use flowsdk_core::fault::{Chain, StorageError};
use flowsdk_core::store::{Store, Transaction as _};

use super::opening::OpenTurn;
use super::{Executor, ExecutorTx};
use crate::ledger::{AgentTurn, HasAgentTurns as _};
use crate::usage::{Day, HasModelUsage as _, MOST_DAYS, ModelCall, fold_some};

/// Calls that are counted in one transaction.
const COUNTED: u32 = 2_000;
/// Most transactions of a review that count calls: turns that wait are begun after it.
const MOST_COUNTS: usize = 5;
/// Sums that are forgotten at once.
const FORGOTTEN: u32 = 1_000;

impl<S: Store> Executor<S>
where
    S::Tx: ExecutorTx,
{
    /// Saves a step of a turn, and notes what the answers since the last one used, and the calls beside them.
    pub(super) async fn save_step(
        &self,
        tx: &mut S::Tx,
        turn: &OpenTurn,
        record: &AgentTurn,
    ) -> Result<(), StorageError> {
        tx.agent_turns().save(record).await?;
        let mut calls = ModelCall::of(record, turn.noted, self.cx.now());
        calls.extend_from_slice(&turn.beside);
        if calls.is_empty() { Ok(()) } else { tx.model_usage().note(&calls).await }
    }

    /// Counts what is noted, and learns what is left of budgets. [`Self::run`] does so every few seconds.
    ///
    /// # Errors
    /// [`StorageError`]: what was not counted is counted by the next review.
    pub async fn review(&self) -> Result<(), StorageError> {
        for _ in 0..MOST_COUNTS {
            if fold_some(&*self.store, COUNTED).await? < COUNTED as usize {
                break;
            }
        }
        let mut tx = self.store.begin().await?;
        tx.model_usage().forget(Day::of(self.cx.now()).before(MOST_DAYS - 1), FORGOTTEN).await?;
        tx.commit().await?;
        self.review_budgets().await
    }

    /// Counts what is noted, and answers contacts all the same if that fails.
    pub(super) async fn try_review(&self) {
        if let Err(error) = self.review().await {
            tracing::warn!(error = %Chain(&error), "what AI agents used is counted later");
        }
    }
}
