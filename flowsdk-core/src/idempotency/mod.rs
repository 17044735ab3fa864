//! Requests that take effect once however often they are sent (rulings H13).
//!
//! [`perform_once`] begins the request in the transaction of the use case and finishes it there with the answer, so
//! that effect and answer are one commit: a repetition finds both or neither, also after a crash.

mod model;
mod once;
mod repository;

pub use model::{Begun, IdempotencyKey, IdempotentRequest, InvalidIdempotencyKey, KEPT_FOR, StoredAnswer};
pub use once::{IdempotencyConflict, Once, Outcome, perform_once};
pub use repository::{HasIdempotency, IdempotencyRepository};
