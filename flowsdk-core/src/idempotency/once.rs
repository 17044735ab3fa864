//! Requests in a use case.

use super::{Begun, IdempotencyTx, IdempotentRequest, StoredAnswer};
use crate::fault::{Fault, FaultKind, StorageError};
use crate::text::Text;
use crate::time::Timestamp;

/// The key was used for another request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("idempotency key used for another request")]
pub struct IdempotencyConflict;

impl Fault for IdempotencyConflict {
    fn kind(&self) -> FaultKind {
        FaultKind::Conflict
    }

    fn code(&self) -> &'static str {
        "idempotency_conflict"
    }

    fn text(&self) -> Text {
        Text::new(
            "Idempotency-Key já usada com outro conteúdo",
            "Idempotency-Key already used with other content",
        )
    }
}

/// Why a request does not begin.
#[derive(Debug, thiserror::Error)]
pub enum OnceError {
    /// The key was used for another request.
    #[error(transparent)]
    Conflict(#[from] IdempotencyConflict),
    /// Storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// A request that is to be done once, and how its answer is written down for repetitions.
#[derive(Debug, Clone)]
pub struct Once<T> {
    /// The request.
    pub request: IdempotentRequest,
    /// What a repetition is answered.
    pub answer: fn(&T) -> StoredAnswer,
}

impl<T> Once<T> {
    /// Begins the request in the transaction of the use case. An answer means that it was done before, and that
    /// the transaction is to be dropped.
    ///
    /// # Errors
    /// [`OnceError`].
    pub async fn begin<X: IdempotencyTx>(
        &self,
        tx: &mut X,
        now: Timestamp,
    ) -> Result<Option<StoredAnswer>, OnceError> {
        match tx.idempotency().begin(&self.request, now).await? {
            Begun::First => Ok(None),
            Begun::Replay(answer) => Ok(Some(answer)),
            Begun::OtherRequest => Err(IdempotencyConflict.into()),
        }
    }

    /// Writes the answer down, in the same transaction.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn finish<X: IdempotencyTx>(&self, tx: &mut X, done: &T) -> Result<(), StorageError> {
        tx.idempotency().finish(&self.request, &(self.answer)(done)).await
    }
}

/// What a use case that may be repeated came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome<T> {
    /// It was done now.
    Done(T),
    /// It was done before.
    Replayed(StoredAnswer),
}
