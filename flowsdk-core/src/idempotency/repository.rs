//! Storage of requests and answers.

use async_trait::async_trait;

use super::{Begun, IdempotentRequest, StoredAnswer};
use crate::fault::StorageError;
use crate::time::Timestamp;

/// Requests of one transaction.
#[async_trait]
pub trait IdempotencyRepository: Send {
    /// Begins a request. While another transaction has begun the same one, this waits for its end. Answers from
    /// before `now` less [`KEPT_FOR`](super::KEPT_FOR) count no more.
    async fn begin(&mut self, request: &IdempotentRequest, now: Timestamp) -> Result<Begun, StorageError>;

    /// Stores the answer of a request that this transaction has begun.
    async fn finish(
        &mut self,
        request: &IdempotentRequest,
        answer: &StoredAnswer,
    ) -> Result<(), StorageError>;

    /// Deletes answers from before `cutoff`.
    async fn purge(&mut self, cutoff: Timestamp) -> Result<u64, StorageError>;
}

/// A transaction with repeatable requests and their answers.
pub trait HasIdempotency: Send {
    /// Returns the repository of this transaction.
    fn idempotency(&mut self) -> &mut dyn IdempotencyRepository;
}
