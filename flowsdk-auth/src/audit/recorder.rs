//! The way of records into the log, as use cases see it.

use std::sync::Arc;

use flowsdk_core::change::{Change, Recorded};
use flowsdk_core::context::OpContext;
use tokio::sync::mpsc;

use super::{AuditRecord, AuditWriter};
use crate::principal::Actor;

/// Takes records. Clones feed the same writer.
#[derive(Debug, Clone)]
pub struct AuditRecorder(mpsc::Sender<AuditRecord>);

/// Returns a recorder and the writer behind it, with room for `capacity` records between them. They are kept while
/// storage is away; beyond that they are lost, counted and logged.
pub fn channel<S>(store: Arc<S>, capacity: usize) -> (AuditRecorder, AuditWriter<S>) {
    let (sender, receiver) = mpsc::channel(capacity.max(1));
    (AuditRecorder(sender), AuditWriter::new(store, receiver))
}

impl AuditRecorder {
    /// Takes a record; never waits and never fails (rulings A11).
    pub fn record(&self, record: AuditRecord) {
        if let Err(mpsc::error::TrySendError::Full(lost) | mpsc::error::TrySendError::Closed(lost)) =
            self.0.try_send(record)
        {
            dropped(&lost, "no room");
        }
    }
}

impl AuditRecorder {
    /// Records a change of an entity by `actor`, unless it changed nothing.
    pub(crate) fn note(&self, cx: &OpContext, actor: &Actor, it: &impl Recorded, change: &Change) {
        let by = (actor.principal.id(), &actor.origin);
        if let Some(record) = AuditRecord::of_change(cx, by, it.entity(), change) {
            self.record(record);
        }
    }
}

/// A record that is lost leaves at least these traces. Its changes and metadata are not for the log.
pub(super) fn dropped(record: &AuditRecord, reason: &str) {
    metrics::counter!("flowsdk_audit_dropped_total").increment(1);
    tracing::error!(
        reason,
        id = record.id.as_str(),
        action = record.action.name(),
        entity_type = record.entity_type.map(flowsdk_core::change::EntityKind::name),
        entity_id = record.entity_id,
        actor_id = record.actor_id,
        status = record.status.name(),
        "an audit record is lost"
    );
}
