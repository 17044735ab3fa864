//! Storage of the log.

use async_trait::async_trait;
use flowsdk_core::change::EntityKind;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{AuditLogId, RouterId};
use flowsdk_core::router::{Reach, Reachable};
use flowsdk_core::time::Timestamp;

use super::{AuditAction, AuditRecord, AuditStatus, RecordedAudit};
use crate::permission::RouterScope;

/// Which records a page shows; an absent field restricts nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct AuditFilter {
    pub action: Option<AuditAction>,
    /// Of this kind of entity.
    pub entity_type: Option<EntityKind>,
    /// Of this actor.
    pub actor_id: Option<String>,
    pub router_id: Option<RouterId>,
    pub status: Option<AuditStatus>,
    /// From this moment on.
    pub from: Option<Timestamp>,
    /// Up to and including this moment.
    pub to: Option<Timestamp>,
    /// The records that the caller may see: those without a router only without a restriction.
    pub scope: RouterScope,
}

impl Reachable for AuditFilter {
    fn is_within(&self, reach: Reach<'_>) -> bool {
        self.router_id.is_within(reach)
    }
}

/// The log of one transaction.
#[async_trait]
pub trait AuditRepository: Send {
    /// Appends records. Those that are there already are left as they are, so that a batch whose commit was not
    /// heard of may come again.
    async fn append(&mut self, records: &[AuditRecord]) -> Result<(), StorageError>;

    /// Returns up to `limit` records before the record `before`, newest first, in the order of their ids.
    async fn list(
        &mut self,
        filter: &AuditFilter,
        before: Option<&AuditLogId>,
        limit: u32,
    ) -> Result<Vec<RecordedAudit>, StorageError>;

    /// Deletes up to `limit` records from before `cutoff`, oldest first; how many.
    async fn purge(&mut self, cutoff: Timestamp, limit: u32) -> Result<u64, StorageError>;
}

/// A transaction with the audit log.
pub trait HasAuditLogs: Send {
    /// Returns the repository of this transaction.
    fn audit_logs(&mut self) -> &mut dyn AuditRepository;
}
