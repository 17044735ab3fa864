//! Reads the log (spec A 4.10).

use std::sync::Arc;

use flowsdk_core::fault::StorageError;
use flowsdk_core::id::AuditLogId;
use flowsdk_core::router::{Admitted, Reach};
use flowsdk_core::store::Store;

use super::{AuditFilter, HasAuditLogs, RecordedAudit};

/// A page of the log, newest first.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditPage {
    /// At most as many as were asked for.
    pub items: Vec<RecordedAudit>,
    /// The cursor of the next page: the last id of this one. `None` on the last page.
    pub next: Option<AuditLogId>,
}

/// Reads the log for administrators.
#[derive(Debug)]
pub struct AuditLogs<S> {
    store: Arc<S>,
}

impl<S: Store> AuditLogs<S>
where
    S::Tx: HasAuditLogs,
{
    /// Creates the log in `store`.
    pub fn new(store: Arc<S>) -> Self {
        Self { store }
    }

    /// Returns up to `limit` records within reach, older than `before`. The scope of `filter` does not count.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn list(
        &self,
        reach: Reach<'_>,
        filter: Admitted<AuditFilter>,
        before: Option<&AuditLogId>,
        limit: u32,
    ) -> Result<AuditPage, StorageError> {
        let filter = AuditFilter { scope: reach.into(), ..filter.into_inner() };
        // The one too many only tells that there is a next page.
        let wanted = limit.saturating_add(1);
        let mut items = self.store.read().await?.audit_logs().list(&filter, before, wanted).await?;
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let more = items.len() > limit;
        items.truncate(limit);
        let next = items.last().filter(|_| more).map(|last| last.record.id.clone());
        Ok(AuditPage { items, next })
    }
}
