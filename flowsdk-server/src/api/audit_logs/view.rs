//! A record of the audit log as clients see it.

use flowsdk_auth::audit::{AuditAction, AuditActor, AuditStatus, RecordedAudit};
use flowsdk_auth::user::Email;
use flowsdk_core::change::EntityKind;
use flowsdk_core::id::{AuditLogId, RouterId, UserId};
use flowsdk_core::time::IsoTime;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// A record of the audit log.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AuditLog)]
pub(super) struct AuditLogView {
    id: AuditLogId,
    action: AuditAction,
    #[schema(required = true)]
    entity_type: Option<EntityKind>,
    #[schema(required = true)]
    entity_id: Option<String>,
    /// A user or an API client.
    #[schema(required = true)]
    actor_id: Option<String>,
    /// The user, if there still is one.
    #[schema(required = true)]
    actor: Option<ActorView>,
    #[schema(required = true)]
    router_id: Option<RouterId>,
    status: AuditStatus,
    /// Created, deleted: the entity without sensitive fields. Updated: `{ field: { from, to } }`.
    #[schema(value_type = Option<Object>, required = true)]
    changes: Option<Value>,
    /// `{ ip, userAgent }`, `email` of failed logins and changes of passwords, and `code` of a change that was refused
    /// because it reached for a record of another router.
    #[schema(value_type = Option<Object>, required = true)]
    metadata: Option<Value>,
    created_at: IsoTime,
}

/// Who did it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AuditActor)]
struct ActorView {
    id: UserId,
    name: String,
    #[schema(value_type = Email)]
    email: String,
}

impl From<AuditActor> for ActorView {
    fn from(actor: AuditActor) -> Self {
        Self { id: actor.id, name: actor.name, email: actor.email }
    }
}

impl From<RecordedAudit> for AuditLogView {
    fn from(RecordedAudit { record, actor }: RecordedAudit) -> Self {
        Self {
            id: record.id,
            action: record.action,
            entity_type: record.entity_type,
            entity_id: record.entity_id,
            actor_id: record.actor_id,
            actor: actor.map(ActorView::from),
            router_id: record.router_id,
            status: record.status,
            changes: record.changes,
            metadata: record.metadata,
            created_at: record.created_at.into(),
        }
    }
}
