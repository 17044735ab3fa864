//! Rings for sessions whose wait for input has run out (rulings S7). The moments are in the session
//! rows, so they survive a restart.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::ConversationTx;
use crate::fault::StorageError;
use crate::session::{HasSessions as _, SessionId};
use crate::store::Store;
use crate::time::Timestamp;

/// Finds the sessions whose wait has run out.
#[derive(Debug)]
pub struct InputTimers<S> {
    store: Arc<S>,
    round: Mutex<Round>,
}

/// How far the rounds have come.
#[derive(Debug, Clone, Default)]
struct Round {
    /// When the last one was.
    last: Option<Timestamp>,
    /// The last one of the sessions that were due before, where there were more of them than go into a round.
    place: Option<(Timestamp, SessionId)>,
}

/// Most sessions of a round that have become due since the one before, and most that were due before it.
const BATCH: u32 = 4_096;

/// No session is due before it.
const BEGINNING: Timestamp = Timestamp::from_millis(0);
/// The steps of [`Timestamp`].
const MOMENT: Duration = Duration::from_millis(1);

impl<S: Store> InputTimers<S>
where
    S::Tx: ConversationTx,
{
    /// Returns timers over the sessions of `store`.
    pub fn new(store: Arc<S>) -> Self {
        Self { store, round: Mutex::default() }
    }

    /// Returns whether a session is due at `now`.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn any(&self, now: Timestamp) -> Result<bool, StorageError> {
        Ok(!self.store.read().await?.sessions().due(BEGINNING, None, now, 1).await?.is_empty())
    }

    /// Returns the sessions to ring for at `now`, once a second: up to 4,096 that have become due since the last call,
    /// and, if there are some that were due before and `late` is set, up to 4,096 of those. When many are late, calls go
    /// through them one part after the other, so that whoever becomes due meanwhile does not wait behind them. Ringing
    /// for a session twice is harmless: the engine looks at the session's own deadline.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn due(&self, now: Timestamp, late: bool) -> Result<Vec<SessionId>, StorageError> {
        let mut round = self.round.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut tx = self.store.read().await?;
        let last = round.last.unwrap_or(now);
        let mut due = Vec::new();
        if late || round.last.is_none() {
            let (from, behind) = match &round.place {
                Some((from, behind)) => (*from, Some(behind)),
                None => (BEGINNING, None),
            };
            due = tx.sessions().due(from, behind, last, BATCH).await?;
            // From the beginning when the end is reached: some may have got lost on their way.
            round.place = due.last().filter(|_| due.len() == BATCH as usize).cloned();
        }
        if last < now {
            due.extend(tx.sessions().due(last + MOMENT, None, now, BATCH).await?);
        }
        round.last = Some(now);
        *self.round.lock().unwrap_or_else(PoisonError::into_inner) = round;
        Ok(due.into_iter().map(|(_, id)| id).collect())
    }
}
