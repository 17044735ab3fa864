//! The audit log (spec A 2.7, 4.10, 6).
//!
//! A use case builds an [`AuditRecord`] and hands it to the [`AuditRecorder`], which never waits and never fails.
//! The [`AuditWriter`] stores the records in batches. Services of other crates note their changes in a
//! [`ChangeLog`](flowsdk_core::change::ChangeLog), which [`AuditChangeLog`] is.

mod change_log;
pub mod changes;
mod log;
mod model;
mod record;
mod recorder;
mod repository;
mod retention;
mod writer;

pub use change_log::AuditChangeLog;
pub use log::{AuditLogs, AuditPage};
pub use model::{AuditAction, AuditActor, AuditRecord, AuditStatus, RecordedAudit};
pub use recorder::{AuditRecorder, channel};
pub use repository::{AuditFilter, AuditRepository, HasAuditLogs};
pub use retention::AuditRetention;
pub use writer::AuditWriter;
