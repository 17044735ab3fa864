//! The record.

use flowsdk_core::cell::Named;
use flowsdk_core::change::EntityKind;
use flowsdk_core::id::{AuditLogId, RouterId, UserId};
use flowsdk_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The recorded action (spec A 6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, Named)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[allow(missing_docs, reason = "the names are the contract's")]
pub enum AuditAction {
    Login,
    TokenRefresh,
    Logout,
    PasswordChange,
    Create,
    Update,
    Delete,
    Publish,
    Unpublish,
    CampaignDispatched,
    RetentionCleanup,
}

/// How it went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, Named)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names are the contract's")]
pub enum AuditStatus {
    Success,
    Failure,
}

/// A record as it is written.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditRecord {
    /// Its id; ids follow time, and the log is read in their order.
    pub id: AuditLogId,
    /// The recorded action.
    pub action: AuditAction,
    /// The kind of the entity.
    pub entity_type: Option<EntityKind>,
    /// Which one.
    pub entity_id: Option<String>,
    /// The user or API client that did it.
    pub actor_id: Option<String>,
    /// Whose record it is; kept after the router is gone.
    pub router_id: Option<RouterId>,
    /// How it went.
    pub status: AuditStatus,
    /// CREATE and DELETE: the entity without sensitive fields. UPDATE: `{ field: { from, to } }`.
    pub changes: Option<Value>,
    /// `{ ip, userAgent }`, and `email` for failed logins and password changes.
    pub metadata: Option<Value>,
    /// When it was done.
    pub created_at: Timestamp,
}

/// The user who acted, as far as they still exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditActor {
    /// The id of the user.
    pub id: UserId,
    /// The present name of the user.
    pub name: String,
    /// The present address of the user.
    pub email: String,
}

/// A record as it is read.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedAudit {
    /// The record as written.
    pub record: AuditRecord,
    /// The user who acted, if they still exist.
    pub actor: Option<AuditActor>,
}
