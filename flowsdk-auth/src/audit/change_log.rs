//! Writes the changes of the other crates to the log.

use flowsdk_core::change::{Author, Change, ChangeLog, Entity, Refused};
use flowsdk_core::context::OpContext;

use super::{AuditRecord, AuditRecorder};
use crate::principal::Origin;

/// A [`ChangeLog`] that is the audit log. Sensitive fields are left out here, once for all.
#[derive(Debug, Clone)]
pub struct AuditChangeLog {
    cx: OpContext,
    audit: AuditRecorder,
}

impl AuditChangeLog {
    /// Creates a log whose records go to `audit`.
    pub fn new(cx: OpContext, audit: AuditRecorder) -> Self {
        Self { cx, audit }
    }
}

impl ChangeLog for AuditChangeLog {
    fn note(&self, author: &Author, entity: Entity<'_>, change: Change) {
        let record = AuditRecord::of_change(&self.cx, (&author.id, &origin(author)), entity, &change);
        if let Some(record) = record {
            self.audit.record(record);
        }
    }

    fn refused(&self, author: &Author, refused: Refused<'_>) {
        self.audit.record(AuditRecord::of_refusal(&self.cx, (&author.id, &origin(author)), &refused));
    }
}

fn origin(author: &Author) -> Origin {
    Origin { ip: author.ip.clone(), user_agent: author.user_agent.clone() }
}

#[cfg(test)]
mod tests {
    use flowsdk_core::change::EntityKind;
    use serde_json::json;

    use super::*;
    use crate::audit::AuditAction;

    #[test]
    fn a_change_becomes_a_record_without_sensitive_fields() {
        let cx = OpContext::system();
        let author = Author { id: "c1".to_owned(), ip: "10.0.0.1".to_owned(), user_agent: None };
        let router = "r1".parse().expect("an id");
        let entity = Entity { kind: EntityKind::RouterVariable, id: "v1", router_id: Some(&router) };
        let (before, after) = (
            json!({ "key": "a", "value": null, "valueEncrypted": "00:11" }),
            json!({ "key": "a", "value": "b", "valueEncrypted": null }),
        );
        let changed = json!({ "value": { "from": null, "to": "b" } });
        let (gone, there) = (json!({ "key": "a", "value": null }), json!({ "key": "a", "value": "b" }));
        for (change, action, changes) in [
            (Change::Created(after.clone()), AuditAction::Create, &there),
            (
                Change::Updated { before: before.clone(), after: after.clone(), hidden: Vec::new() },
                AuditAction::Update,
                &changed,
            ),
            (Change::Deleted(before.clone()), AuditAction::Delete, &gone),
            (Change::Published(after.clone()), AuditAction::Publish, &there),
            (Change::Unpublished(before.clone()), AuditAction::Unpublish, &gone),
            (Change::Dispatched(after.clone()), AuditAction::CampaignDispatched, &there),
        ] {
            let by = (author.id.as_str(), &origin(&author));
            let record = AuditRecord::of_change(&cx, by, entity, &change).expect("a record");
            assert_eq!((record.action, record.changes.as_ref()), (action, Some(changes)));
            assert_eq!(record.entity_type, Some(EntityKind::RouterVariable));
            assert_eq!((record.entity_id.as_deref(), record.actor_id.as_deref()), (Some("v1"), Some("c1")));
            assert_eq!(record.router_id.as_ref(), Some(&router));
            assert_eq!(record.metadata, Some(json!({ "ip": "10.0.0.1", "userAgent": null })));
        }
    }
}
