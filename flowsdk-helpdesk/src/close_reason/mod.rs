//! Close reasons, of which people choose one when they close a ticket.

mod error;
mod model;
mod repository;

use flowsdk_core::record::RouterRecords;

pub use error::CloseReasonError;
pub use model::{
    CloseReason, CloseReasonChange, CloseReasonFilter, CloseReasonId, CloseReasonKey, InvalidCloseReasonKey,
    NewCloseReason,
};
pub use repository::{CloseReasonRepository, HasCloseReasons};

/// The use cases of close reasons.
pub type CloseReasons<S> = RouterRecords<S, CloseReason>;
