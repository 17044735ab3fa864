//! The public form of a router.

use serde::Serialize;
use serde_json::Value;

use super::{FallbackTexts, PhoneOptions, Router};
use crate::change::View;
use crate::id::{FlowId, LlmCredentialId, RouterId};
use crate::schema::SchemaAttributes;
use crate::time::IsoTime;

/// A router. Its secrets are never shown, only whether there are any.
#[derive(Debug, Serialize, View, SchemaAttributes)]
#[view(of = Router)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = Router)]
pub struct RouterView {
    id: RouterId,
    #[schema(example = "Support")]
    name: String,
    /// The flow that a first message starts; without one messages are stored and nothing starts.
    #[schema(required = true)]
    initial_flow_id: Option<FlowId>,
    /// IANA time zone.
    #[schema(example = "America/Sao_Paulo")]
    tz: String,
    #[view(some = channel_app_secret)]
    has_channel_app_secret: bool,
    #[view(some = channel_verify_token)]
    has_channel_verify_token: bool,
    /// The credential of every AI agent of the router.
    #[schema(required = true)]
    llm_credential_id: Option<LlmCredentialId>,
    #[schema(required = true)]
    logo_url: Option<String>,
    #[schema(value_type = Option<Object>, required = true)]
    sentiment_config: Option<Value>,
    #[schema(value_type = Option<Object>, required = true)]
    copilot_config: Option<Value>,
    /// Whether a helpdesk agent's name stands before their messages.
    helpdesk_agent_prefix_enabled: bool,
    /// How it stands there.
    #[schema(required = true)]
    helpdesk_agent_prefix_template: Option<String>,
    /// What contacts receive where nothing else answers them.
    fallback_texts: FallbackTexts,
    /// How its phone channel behaves.
    phone: PhoneOptions,
    created_at: IsoTime,
    updated_at: IsoTime,
}
