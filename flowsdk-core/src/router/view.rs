//! The public form of a router.

use serde::Serialize;
use serde_json::Value;

use super::Router;
use crate::id::{FlowId, LlmCredentialId, RouterId};
use crate::schema::SchemaAttributes;
use crate::time::IsoTime;

/// A router. Its secrets are never shown, only whether there are any.
#[derive(Debug, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = Router)]
pub struct RouterView<'a> {
    #[schema(value_type = RouterId)]
    id: &'a RouterId,
    #[schema(example = "Atendimento")]
    name: &'a str,
    /// The flow that a first message starts; without one messages are stored and nothing starts.
    #[schema(value_type = Option<FlowId>, required = true)]
    initial_flow_id: Option<&'a FlowId>,
    /// IANA time zone.
    #[schema(example = "America/Sao_Paulo")]
    tz: &'a str,
    has_channel_app_secret: bool,
    has_channel_verify_token: bool,
    /// The credential of every AI agent of the router.
    #[schema(value_type = Option<LlmCredentialId>, required = true)]
    llm_credential_id: Option<&'a LlmCredentialId>,
    #[schema(required = true)]
    logo_url: Option<&'a str>,
    #[schema(value_type = Option<Object>, required = true)]
    sentiment_config: Option<&'a Value>,
    #[schema(value_type = Option<Object>, required = true)]
    copilot_config: Option<&'a Value>,
    /// Whether a helpdesk agent's name stands before their messages.
    helpdesk_agent_prefix_enabled: bool,
    /// How it stands there.
    #[schema(required = true)]
    helpdesk_agent_prefix_template: Option<&'a str>,
    created_at: IsoTime,
    updated_at: IsoTime,
}

impl<'a> From<&'a Router> for RouterView<'a> {
    fn from(router: &'a Router) -> Self {
        Self {
            id: &router.id,
            name: &router.name,
            initial_flow_id: router.initial_flow_id.as_ref(),
            tz: &router.tz,
            has_channel_app_secret: router.channel_app_secret.is_some(),
            has_channel_verify_token: router.channel_verify_token.is_some(),
            llm_credential_id: router.llm_credential_id.as_ref(),
            logo_url: router.logo_url.as_deref(),
            sentiment_config: router.sentiment_config.as_ref(),
            copilot_config: router.copilot_config.as_ref(),
            helpdesk_agent_prefix_enabled: router.helpdesk_agent_prefix_enabled,
            helpdesk_agent_prefix_template: router.helpdesk_agent_prefix_template.as_deref(),
            created_at: router.created_at.into(),
            updated_at: router.updated_at.into(),
        }
    }
}
