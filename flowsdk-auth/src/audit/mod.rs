//! The audit log (spec A 2.7, 4.10, 6).

mod model;
mod repository;

pub use model::{AuditAction, AuditActor, AuditEntityType, AuditRecord, AuditStatus, RecordedAudit};
pub use repository::{AuditFilter, AuditRepository};
