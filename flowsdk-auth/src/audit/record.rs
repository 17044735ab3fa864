//! How records come about.

use flowsdk_core::change::Entity;
use flowsdk_core::context::OpContext;
use flowsdk_core::id::{AuditLogId, UserId};
use serde_json::{Value, json};

use super::changes::{diff, snapshot};
use super::{AuditAction, AuditRecord, AuditStatus};
use crate::principal::{Actor, Origin};

impl AuditRecord {
    /// The creation of an entity; `after` is its public JSON.
    pub fn created(cx: &OpContext, actor: &Actor, entity: Entity<'_>, after: &Value) -> Self {
        Self::entity(cx, actor, AuditAction::Create, entity, Some(snapshot(after)))
    }

    /// A change of an entity, between its public JSON before and after.
    pub fn updated(cx: &OpContext, actor: &Actor, entity: Entity<'_>, before: &Value, after: &Value) -> Self {
        Self::entity(cx, actor, AuditAction::Update, entity, Some(diff(before, after)))
    }

    /// The deletion of an entity; `before` is its public JSON.
    pub fn deleted(cx: &OpContext, actor: &Actor, entity: Entity<'_>, before: &Value) -> Self {
        Self::entity(cx, actor, AuditAction::Delete, entity, Some(snapshot(before)))
    }

    /// Anything else that somebody did to an entity. `changes` is written as it is.
    pub fn entity(
        cx: &OpContext,
        actor: &Actor,
        action: AuditAction,
        entity: Entity<'_>,
        changes: Option<Value>,
    ) -> Self {
        Self::entity_by(cx, actor.principal.id(), &actor.origin, action, entity, changes)
    }

    /// The same for an actor of whom only the id is known.
    pub(super) fn entity_by(
        cx: &OpContext,
        actor_id: &str,
        origin: &Origin,
        action: AuditAction,
        entity: Entity<'_>,
        changes: Option<Value>,
    ) -> Self {
        Self {
            entity_type: Some(entity.kind),
            entity_id: Some(entity.id.to_owned()),
            actor_id: Some(actor_id.to_owned()),
            router_id: entity.router_id.cloned(),
            changes,
            metadata: Some(metadata(origin, None)),
            ..Self::bare(cx, action, AuditStatus::Success)
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

fn metadata(origin: &Origin, email: Option<&str>) -> Value {
    let bounded = |text: &str| text.chars().take(MAX_CHARS).collect::<String>();
    let mut metadata = json!({ "ip": origin.ip, "userAgent": origin.user_agent.as_deref().map(bounded) });
    if let Some(email) = email {
        metadata["email"] = bounded(email).into();
    }
    metadata
}

#[cfg(test)]
mod tests {
    use flowsdk_core::change::EntityKind;
    use flowsdk_core::id::RouterId;
    use flowsdk_core::time::Timestamp;

    use super::*;
    use crate::principal::Principal;

    fn origin() -> Origin {
        Origin { ip: "10.0.0.1".to_owned(), user_agent: Some("curl".to_owned()) }
    }

    #[test]
    fn a_record_says_who_did_what_from_where() {
        let cx = OpContext::system();
        let (user, router) = (UserId::parse("c1").expect("id"), RouterId::parse("r1").expect("id"));
        let actor =
            Actor { principal: Principal::User { id: user, name: "Ana".to_owned() }, origin: origin() };
        let entity = Entity { kind: EntityKind::Flow, id: "f1", router_id: Some(&router) };
        let (before, after) =
            (json!({ "name": "a", "password": "x" }), json!({ "name": "b", "password": "y" }));
        let updated = AuditRecord::updated(&cx, &actor, entity, &before, &after);
        assert_eq!(updated.changes, Some(json!({ "name": { "from": "a", "to": "b" } })));
        assert_eq!(updated.metadata, Some(json!({ "ip": "10.0.0.1", "userAgent": "curl" })));
        assert_eq!((updated.actor_id.as_deref(), updated.router_id.as_ref()), (Some("c1"), Some(&router)));
        assert_eq!((updated.action, updated.status), (AuditAction::Update, AuditStatus::Success));
        let created = AuditRecord::created(&cx, &actor, Entity { router_id: None, ..entity }, &after);
        assert_eq!((created.changes, created.router_id), (Some(json!({ "name": "b" })), None));
        let deleted = AuditRecord::deleted(&cx, &actor, entity, &before);
        assert_eq!((deleted.action, deleted.changes), (AuditAction::Delete, Some(json!({ "name": "a" }))));
        assert!(updated.id < deleted.id && deleted.created_at > Timestamp::from_millis(0));
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
