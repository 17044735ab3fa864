//! The record.

use flowsdk_core::id::{AuditLogId, RouterId, UserId};
use flowsdk_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An enum whose names on the wire, in storage and in Rust go together.
macro_rules! named {
    ($(#[$doc:meta])* $name:ident { $($variant:ident = $text:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[allow(missing_docs, reason = "the names are the contract's")]
        pub enum $name {
            $(#[serde(rename = $text)] $variant,)*
        }

        impl $name {
            /// Every one.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// Returns the name on the wire and in storage.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            /// Returns the one of this name.
            pub fn parse(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|one| one.name() == name)
            }
        }

        impl flowsdk_core::cell::Named for $name {
            const ALL: &'static [Self] = Self::ALL;

            fn name(self) -> &'static str {
                Self::name(self)
            }
        }
    };
}

named! {
    /// The recorded action (spec A 6).
    AuditAction {
        Login = "LOGIN",
        TokenRefresh = "TOKEN_REFRESH",
        Logout = "LOGOUT",
        PasswordChange = "PASSWORD_CHANGE",
        Create = "CREATE",
        Update = "UPDATE",
        Delete = "DELETE",
        Publish = "PUBLISH",
        Unpublish = "UNPUBLISH",
        CampaignDispatched = "CAMPAIGN_DISPATCHED",
        RetentionCleanup = "RETENTION_CLEANUP",
    }
}

named! {
    /// The kind of the entity (spec A 2.7).
    AuditEntityType {
        User = "USER",
        Router = "ROUTER",
        ChannelNumber = "CHANNEL_NUMBER",
        Flow = "FLOW",
        PublishedFlow = "PUBLISHED_FLOW",
        Tool = "TOOL",
        PublishedTool = "PUBLISHED_TOOL",
        Agent = "AGENT",
        AgentGroup = "AGENT_GROUP",
        AiAgent = "AI_AGENT",
        Department = "DEPARTMENT",
        Queue = "QUEUE",
        LlmCredential = "LLM_CREDENTIAL",
        IntegrationServer = "INTEGRATION_SERVER",
        IntegrationServerEndpoint = "INTEGRATION_SERVER_ENDPOINT",
        MessageTemplate = "MESSAGE_TEMPLATE",
        Campaign = "CAMPAIGN",
        ScriptTemplate = "SCRIPT_TEMPLATE",
        SystemPrompt = "SYSTEM_PROMPT",
        Guardrail = "GUARDRAIL",
        FlowVariable = "FLOW_VARIABLE",
        RouterVariable = "ROUTER_VARIABLE",
        ApiClient = "API_CLIENT",
        WebchatChannel = "WEBCHAT_CHANNEL",
    }
}

named! {
    /// How it went.
    AuditStatus {
        Success = "success",
        Failure = "failure",
    }
}

/// A record as it is written.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditRecord {
    /// Its id; ids follow time, and the log is read in their order.
    pub id: AuditLogId,
    /// The recorded action.
    pub action: AuditAction,
    /// The kind of the entity.
    pub entity_type: Option<AuditEntityType>,
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
