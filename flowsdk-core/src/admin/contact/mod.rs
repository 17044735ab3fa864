//! Creating, changing, merging and deleting contacts, and their opt-ins.

mod error;
mod import;
mod merge;
mod opt_in_service;
mod service;

pub use error::ContactError;
pub use import::{Import, ImportReport, ImportRow, RefusedRow, SentRow};
pub use opt_in_service::{OptInError, OptIns};
pub use service::{ContactNaming, Contacts, NewContact};
