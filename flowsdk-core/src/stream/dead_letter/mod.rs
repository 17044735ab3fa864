//! Dead letters: entries of streams that failed for good.
//!
//! A consumer sets an entry aside after its last attempt and acknowledges it, so that the others of its key go on. The
//! row has everything that is needed to look into the failure and to publish the entry again.

mod error;
mod model;
mod repository;
mod service;

pub use error::DeadLetterError;
pub use model::{DeadLetter, DeadLetterFilter, FailedEntry};
pub use repository::{DeadLetterRepository, DeadLetterSink, HasDeadLetters};
pub use service::DeadLetters;
