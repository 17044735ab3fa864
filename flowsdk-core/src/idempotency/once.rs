//! Requests in a use case.

use super::{Begun, HasIdempotency, IdempotentRequest, StoredAnswer};
use crate::fault::{Fault, StorageError};
use crate::store::{Store, transact};
use crate::time::Timestamp;

/// The key was used for another request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error, Fault)]
#[error("idempotency key used for another request")]
#[fault(
    Conflict,
    "idempotency_conflict",
    pt = "Idempotency-Key já usada com outro conteúdo",
    en = "Idempotency-Key already used with other content"
)]
pub struct IdempotencyConflict;

/// A request that is to be done once, and how its answer is written down for repetitions.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct Once<T> {
    pub request: IdempotentRequest,
    /// Builds the answer to a repetition.
    pub answer: fn(&T) -> StoredAnswer,
}

/// The outcome of a use case that may be repeated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome<T> {
    /// It was done now.
    Done(T),
    /// It was done before.
    Replayed(StoredAnswer),
}

impl<T> Outcome<T> {
    /// Passes a new result to `see`; of a repetition, nothing.
    pub fn inspect(self, see: impl FnOnce(&T)) -> Self {
        if let Self::Done(done) = &self {
            see(done);
        }
        self
    }
}

/// Acts in a transaction of its own, which is committed if `act` succeeds. If the request may be repeated, it is
/// noted before and its answer is stored after, in the same transaction; a repetition does not act.
///
/// # Errors
/// The failure of `act`, [`IdempotencyConflict`], [`StorageError`].
pub async fn perform_once<S, T, E>(
    store: &S,
    once: Option<Once<T>>,
    now: Timestamp,
    act: impl AsyncFnOnce(&mut S::Tx) -> Result<T, E>,
) -> Result<Outcome<T>, E>
where
    S: Store<Tx: HasIdempotency>,
    E: From<IdempotencyConflict> + From<StorageError>,
{
    transact(store, async |tx: &mut S::Tx| {
        if let Some(once) = &once {
            match tx.idempotency().begin(&once.request, now).await? {
                Begun::First => {}
                Begun::Replay(answer) => return Ok(Outcome::Replayed(answer)),
                Begun::OtherRequest => return Err(IdempotencyConflict.into()),
            }
        }
        let done = act(tx).await?;
        if let Some(once) = &once {
            tx.idempotency().finish(&once.request, &(once.answer)(&done)).await?;
        }
        Ok(Outcome::Done(done))
    })
    .await
}
