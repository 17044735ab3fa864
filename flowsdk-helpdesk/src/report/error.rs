//! Why a report fails.

use flowsdk_core::fault::{Fault, StorageError};

/// The reason why a report fails.
#[derive(Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum ReportError {
    /// The period ends before it begins, or at once.
    #[error("the period ends before it begins")]
    #[fault(
        Invalid,
        "validation_failed",
        pt = "Deve ser antes de to",
        en = "Must be before to",
        field = "from"
    )]
    Backwards,
    /// The period is too long.
    #[error("more than {most} days")]
    #[fault(
        Invalid,
        "validation_failed",
        pt = "O período pode ter no máximo {most} dias",
        en = "The period may have at most {most} days",
        field = "from"
    )]
    TooLong {
        /// Most days of 24 hours.
        most: u32,
    },
    /// Storage failed.
    #[error("storage failed")]
    #[fault(transparent)]
    Storage(#[from] StorageError),
}
