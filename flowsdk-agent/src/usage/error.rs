//! Why no usage is reported.

use flowsdk_core::fault::{Fault, StorageError};

/// The reason why usage is not reported.
#[derive(Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum UsageError {
    /// The period ends before it begins.
    #[error("the period ends before it begins")]
    #[fault(
        Invalid,
        "validation_failed",
        pt = "Não pode ser depois de to",
        en = "May not be after to",
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
        /// Most days.
        most: u32,
    },
    /// The groups are too many.
    #[error("more than {most} groups")]
    #[fault(
        Invalid,
        "validation_failed",
        pt = "Há mais de {most} grupos: peça menos dias ou menos campos",
        en = "There are more than {most} groups: ask for fewer days or fields",
        field = "by"
    )]
    TooMany {
        /// Most groups.
        most: u32,
    },
    /// Storage failed.
    #[error("storage failed")]
    #[fault(transparent)]
    Storage(#[from] StorageError),
}
