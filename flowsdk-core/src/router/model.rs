//! The router and the static variables of routers and flows (spec A 2.2, 2.3).

use crate::page::{Cursor, Searched};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use secrecy::SecretString;
use serde_json::Value;

use super::{FallbackTexts, PhoneOptions, RouterView};
use crate::change::{Entity, EntityKind, Recorded, public_json};
use crate::crypto::Encrypted;
use crate::id::{FlowId, LlmCredentialId, RouterId};
use crate::time::Timestamp;

/// The root of channels, flows, chats and opt-ins (spec A 2.2).
#[derive(Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct Router {
    /// The id of the router.
    pub id: RouterId,
    pub name: String,
    /// The flow that a first message starts; `None` stores messages and starts nothing.
    pub initial_flow_id: Option<FlowId>,
    /// IANA time zone, default `America/Sao_Paulo`.
    pub tz: String,
    /// The token that the channel's provider presents when it verifies the webhook; not unique, never returned.
    pub channel_verify_token: Option<String>,
    /// The secret with which the channel's provider signs webhooks.
    pub channel_app_secret: Option<Encrypted>,
    /// The credential of every AI agent of the router.
    pub llm_credential_id: Option<LlmCredentialId>,
    /// Where the logo is.
    pub logo_url: Option<String>,
    /// How the sentiment of a chat is found.
    pub sentiment_config: Option<Value>,
    /// The settings of the copilot for the helpdesk's agents.
    pub copilot_config: Option<Value>,
    /// Whether a helpdesk agent's name stands before their messages.
    pub helpdesk_agent_prefix_enabled: bool,
    /// How it stands there.
    pub helpdesk_agent_prefix_template: Option<String>,
    /// What contacts receive where nothing else answers them.
    pub fallback_texts: FallbackTexts,
    /// How its phone channel behaves.
    pub phone: PhoneOptions,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

impl Router {
    /// Creates a router with nothing set.
    pub fn new(id: RouterId, name: impl Into<String>, now: Timestamp) -> Self {
        Self {
            id,
            name: name.into(),
            initial_flow_id: None,
            tz: DEFAULT_TZ.to_owned(),
            channel_verify_token: None,
            channel_app_secret: None,
            llm_credential_id: None,
            logo_url: None,
            sentiment_config: None,
            copilot_config: None,
            helpdesk_agent_prefix_enabled: false,
            helpdesk_agent_prefix_template: None,
            fallback_texts: FallbackTexts::default(),
            phone: PhoneOptions::default(),
            created_at: now,
            updated_at: now,
        }
    }
}

impl Searched for Router {
    fn search_text(&self) -> Cow<'_, str> {
        (&self.name).into()
    }

    fn place(&self) -> Cursor {
        Cursor::of(self.created_at, &self.id)
    }
}

impl Recorded for Router {
    fn entity(&self) -> Entity<'_> {
        Entity { kind: EntityKind::Router, id: self.id.as_str(), router_id: Some(&self.id) }
    }

    fn to_json(&self) -> Value {
        public_json(&RouterView::from(self))
    }

    fn secrets(&self) -> Vec<(&'static str, Option<&str>)> {
        vec![
            ("channelVerifyToken", self.channel_verify_token.as_deref()),
            ("channelAppSecret", self.channel_app_secret.as_ref().map(Encrypted::as_stored)),
        ]
    }
}

impl fmt::Debug for Router {
    // The verify token is a secret too.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Router").field("id", &self.id).field("name", &self.name).finish_non_exhaustive()
    }
}

/// The time zone of a router that names none.
pub const DEFAULT_TZ: &str = "America/Sao_Paulo";

/// Whose a static variable is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum VariableOwner {
    /// `{{router.<key>}}`, seen by all flows of the router.
    Router(RouterId),
    /// `{{flow.<key>}}`, seen by its own flow only.
    Flow(FlowId),
}

impl VariableOwner {
    /// Returns the kind of its variables in the log of changes.
    pub(crate) const fn variable_kind(&self) -> EntityKind {
        match self {
            Self::Router(_) => EntityKind::RouterVariable,
            Self::Flow(_) => EntityKind::FlowVariable,
        }
    }
}

/// A static variable as stored: clear, or encrypted when it is a secret.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct StaticVariable {
    pub owner: VariableOwner,
    pub key: String,
    /// The clear value; `None` for a secret.
    pub value: Option<String>,
    /// The encrypted value; `None` unless it is a secret.
    pub encrypted: Option<Encrypted>,
}

/// The decrypted static variables a turn reads (spec A 9). Missing maps are empty maps.
#[derive(Debug, Clone, Default)]
pub struct StaticVariables {
    /// Those of the router, by key.
    pub router: Arc<BTreeMap<String, SecretString>>,
    /// Of the flows that the turn may run through; each flow sees its own only.
    pub flows: BTreeMap<FlowId, Arc<BTreeMap<String, SecretString>>>,
}
