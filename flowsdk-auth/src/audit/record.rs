//! How records come about.

use flowsdk_core::change::{Attempt, Change, Entity, Refused};
use flowsdk_core::context::OpContext;
use flowsdk_core::id::{AuditLogId, UserId};
use serde_json::{Map, Value, json};

use super::changes::{diff, snapshot};
use super::{AuditAction, AuditRecord, AuditStatus};
use crate::principal::Origin;

impl AuditRecord {
    /// A change of an entity by the actor of this id; `None` for a change that changes nothing.
    pub fn of_change(
        cx: &OpContext,
        (actor_id, origin): (&str, &Origin),
        entity: Entity<'_>,
        change: &Change,
    ) -> Option<Self> {
        let (action, changes) = match change {
            Change::Created(after) => (AuditAction::Create, snapshot(after)),
            Change::Updated { before, after, hidden } => {
                let changes = diff(before, after, hidden);
                if changes.as_object().is_none_or(Map::is_empty) {
                    return None;
                }
                (AuditAction::Update, changes)
            }
            Change::Deleted(before) => (AuditAction::Delete, snapshot(before)),
            Change::Published(what) => (AuditAction::Publish, snapshot(what)),
            Change::Unpublished(what) => (AuditAction::Unpublish, snapshot(what)),
            Change::Dispatched(what) => (AuditAction::CampaignDispatched, snapshot(what)),
        };
        Some(Self {
            entity_type: Some(entity.kind),
            entity_id: Some(entity.id.to_owned()),
            actor_id: Some(actor_id.to_owned()),
            router_id: entity.router_id.cloned(),
            changes: Some(changes),
            metadata: Some(metadata(origin, None)),
            ..Self::bare(cx, action, AuditStatus::Success)
        })
    }

    /// An attempt by the actor of this id that was refused.
    pub fn of_refusal(cx: &OpContext, (actor_id, origin): (&str, &Origin), refused: &Refused<'_>) -> Self {
        let action = match refused.attempt {
            Attempt::Create => AuditAction::Create,
            Attempt::Update => AuditAction::Update,
            Attempt::Delete => AuditAction::Delete,
        };
        let mut metadata = metadata(origin, None);
        metadata["code"] = refused.code.into();
        Self {
            entity_type: Some(refused.kind),
            entity_id: refused.id.map(bounded),
            actor_id: Some(actor_id.to_owned()),
            router_id: refused.router_id.cloned(),
            metadata: Some(metadata),
            ..Self::bare(cx, action, AuditStatus::Failure)
        }
    }

    /// A login, refresh, logout or change of password that went well.
    pub fn auth_success(cx: &OpContext, action: AuditAction, user: &UserId, origin: &Origin) -> Self {
        Self {
            actor_id: Some(user.to_string()),
            metadata: Some(metadata(origin, None)),
            ..Self::bare(cx, action, AuditStatus::Success)
        }
    }

    /// One that failed: of whom, if there is such a user, and the address that was given, if one was.
    pub fn auth_failure(
        cx: &OpContext,
        action: AuditAction,
        user: Option<&UserId>,
        origin: &Origin,
        email: Option<&str>,
    ) -> Self {
        Self {
            actor_id: user.map(ToString::to_string),
            metadata: Some(metadata(origin, email)),
            ..Self::bare(cx, action, AuditStatus::Failure)
        }
    }

    /// Something the system did by itself.
    pub fn system(cx: &OpContext, action: AuditAction, changes: Option<Value>) -> Self {
        Self { changes, ..Self::bare(cx, action, AuditStatus::Success) }
    }

    fn bare(cx: &OpContext, action: AuditAction, status: AuditStatus) -> Self {
        Self {
            id: AuditLogId::generate(cx.ids()),
            action,
            entity_type: None,
            entity_id: None,
            actor_id: None,
            router_id: None,
            status,
            changes: None,
            metadata: None,
            created_at: cx.now(),
        }
    }
}

/// Longest text from outside that a record keeps, in characters: nobody fills the log with their own words.
const MAX_CHARS: usize = 512;

fn bounded(text: &str) -> String {
    text.chars().take(MAX_CHARS).collect()
}

fn metadata(origin: &Origin, email: Option<&str>) -> Value {
    let mut metadata = json!({ "ip": origin.ip, "userAgent": origin.user_agent.as_deref().map(bounded) });
    if let Some(email) = email {
        metadata["email"] = bounded(email).into();
    }
    metadata
}

#[cfg(test)]
mod tests {
    use flowsdk_core::change::{EntityKind, Hidden};
    use flowsdk_core::id::RouterId;
    use flowsdk_core::time::Timestamp;

    use super::*;

    fn origin() -> Origin {
        Origin { ip: "10.0.0.1".to_owned(), user_agent: Some("curl".to_owned()) }
    }

    #[test]
    fn a_record_says_who_did_what_from_where() {
        let cx = OpContext::system();
        let router = RouterId::parse("r1").expect("id");
        let entity = Entity { kind: EntityKind::Flow, id: "f1", router_id: Some(&router) };
        let (before, after) =
            (json!({ "name": "a", "password": "x" }), json!({ "name": "b", "password": "y" }));
        let (origin, gone) = (origin(), before.clone());
        let record = |entity, change: &Change| {
            AuditRecord::of_change(&cx, ("c1", &origin), entity, change).expect("a record")
        };
        let change = Change::Updated { before, after: after.clone(), hidden: Vec::new() };
        let updated = record(entity, &change);
        assert_eq!(updated.changes, Some(json!({ "name": { "from": "a", "to": "b" } })));
        assert_eq!(updated.metadata, Some(json!({ "ip": "10.0.0.1", "userAgent": "curl" })));
        assert_eq!((updated.actor_id.as_deref(), updated.router_id.as_ref()), (Some("c1"), Some(&router)));
        assert_eq!((updated.action, updated.status), (AuditAction::Update, AuditStatus::Success));
        let created = record(Entity { router_id: None, ..entity }, &Change::Created(after));
        assert_eq!((created.changes, created.router_id), (Some(json!({ "name": "b" })), None));
        let deleted = record(entity, &Change::Deleted(gone));
        assert_eq!((deleted.action, deleted.changes), (AuditAction::Delete, Some(json!({ "name": "a" }))));
        assert!(updated.id < deleted.id && deleted.created_at > Timestamp::from_millis(0));
    }

    #[test]
    fn a_change_that_changes_nothing_is_no_record() {
        let cx = OpContext::system();
        let entity = Entity { kind: EntityKind::Group, id: "g1", router_id: None };
        let (before, after) =
            (json!({ "name": "a", "updatedAt": "1" }), json!({ "name": "a", "updatedAt": "2" }));
        let record = |hidden| {
            let change = Change::Updated { before: before.clone(), after: after.clone(), hidden };
            AuditRecord::of_change(&cx, ("c1", &Origin::default()), entity, &change)
        };
        assert_eq!(record(Vec::new()), None);
        let token = Hidden { field: "token".to_owned(), had: true, has: true };
        let changes = record(vec![token]).and_then(|record| record.changes);
        assert_eq!(changes, Some(json!({ "token": { "from": "***", "to": "***" } })));
    }

    #[test]
    fn a_refusal_says_what_was_tried() {
        let cx = OpContext::system();
        let long = "x".repeat(10_000);
        let refused = Refused {
            attempt: Attempt::Delete,
            kind: EntityKind::Flow,
            id: Some(&long),
            router_id: None,
            code: "not_found",
        };
        let record = AuditRecord::of_refusal(&cx, ("c1", &origin()), &refused);
        assert_eq!((record.action, record.status), (AuditAction::Delete, AuditStatus::Failure));
        assert_eq!(record.entity_id.map(|id| id.len()), Some(MAX_CHARS));
        let metadata = json!({ "ip": "10.0.0.1", "userAgent": "curl", "code": "not_found" });
        assert_eq!((record.changes, record.metadata), (None, Some(metadata)));
    }

    #[test]
    fn a_failure_names_the_address_that_was_given_but_no_book() {
        let cx = OpContext::system();
        let email = "a".repeat(10_000);
        let failed =
            AuditRecord::auth_failure(&cx, AuditAction::Login, None, &Origin::default(), Some(&email));
        let metadata = failed.metadata.expect("metadata");
        assert_eq!(metadata["email"].as_str().map(str::len), Some(MAX_CHARS));
        assert_eq!((&metadata["ip"], &metadata["userAgent"]), (&json!(""), &Value::Null));
        assert_eq!((failed.actor_id, failed.changes, failed.status), (None, None, AuditStatus::Failure));
    }
}
