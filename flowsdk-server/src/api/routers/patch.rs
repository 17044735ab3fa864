//! `PATCH /routers/{id}`.

use flowsdk_core::schema::TimeZoneName;
use flowsdk_core::schema::WebAddress;
use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use flowsdk_core::admin::router::RouterChange;
use flowsdk_core::id::{FlowId, LlmCredentialId, RouterId};
use http::StatusCode;
use secrecy::SecretString;
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::RouterView;
use crate::api::body::{Body, present};
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply;
use crate::api::state::Routers;

/// What is to change of a router; an absent field stays.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct PatchRouter {
    #[schema(value_type = String, required = false, min_length = 1, max_length = 200, pattern = r"\S", example = "Atendimento")]
    name: Option<String>,
    /// A flow of the router; null starts none.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<FlowId>)]
    initial_flow_id: Option<Option<FlowId>>,
    #[schema(value_type = TimeZoneName, required = false)]
    tz: Option<String>,
    /// What the provider signs webhooks with. Kept encrypted and never shown; null forgets it.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<String>, format = Password, min_length = 1, max_length = 512)]
    channel_app_secret: Option<Option<SecretString>>,
    /// What the provider presents when it verifies the webhook. Never shown; null forgets it.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<String>, format = Password, min_length = 1, max_length = 512)]
    channel_verify_token: Option<Option<SecretString>>,
    /// The credential of every AI agent of the router.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<LlmCredentialId>)]
    llm_credential_id: Option<Option<LlmCredentialId>>,
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<WebAddress>)]
    logo_url: Option<Option<String>>,
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<Object>)]
    sentiment_config: Option<Option<Value>>,
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<Object>)]
    copilot_config: Option<Option<Value>>,
    /// Whether a helpdesk agent's name stands before what he writes.
    #[schema(value_type = bool, required = false)]
    helpdesk_agent_prefix_enabled: Option<bool>,
    /// How it stands there.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<String>, max_length = 500)]
    helpdesk_agent_prefix_template: Option<Option<String>>,
}

impl From<PatchRouter> for RouterChange {
    fn from(body: PatchRouter) -> Self {
        Self {
            name: body.name,
            initial_flow_id: body.initial_flow_id,
            tz: body.tz,
            channel_verify_token: body.channel_verify_token,
            channel_app_secret: body.channel_app_secret,
            llm_credential_id: body.llm_credential_id,
            logo_url: body.logo_url,
            sentiment_config: body.sentiment_config,
            copilot_config: body.copilot_config,
            helpdesk_agent_prefix_enabled: body.helpdesk_agent_prefix_enabled,
            helpdesk_agent_prefix_template: body.helpdesk_agent_prefix_template,
        }
    }
}

/// Change a router
///
/// Counts with the next message.
#[utoipa::path(
    patch, path = "/routers/{id}", tag = "routers",
    params(("id" = RouterId, Path, description = "The router")),
    request_body = PatchRouter,
    responses(
        (status = 200, description = "The router", body = RouterView<'static>),
        (status = 422, description = "`flow_unknown`: the initial flow is none of the router's; `flow_is_tool`"),
    )
)]
pub(super) async fn patch_router(
    can: Can<marks::Routers, marks::Write>,
    State(routers): State<Arc<Routers>>,
    PathId(id): PathId<RouterId>,
    Body(body): Body<PatchRouter>,
) -> Result<Response, ApiError> {
    let id = can.admit(id)?;
    let router = routers.change(&can.caller.author(), &id, body.into()).await?;
    Ok(reply::json(StatusCode::OK, &RouterView::from(&router)))
}
