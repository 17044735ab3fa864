//! `POST /routers`.

use flowsdk_core::schema::TimeZoneName;
use flowsdk_core::schema::WebAddress;
use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use flowsdk_core::admin::router::RouterChange;
use flowsdk_core::id::{FlowId, LlmCredentialId};
use flowsdk_core::idempotency::{Once, Outcome};
use flowsdk_core::router::{AllRouters, Router};
use secrecy::SecretString;
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::{COLLECTION, RouterView};
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::idempotency::{IdempotencyParams, Idempotent, Replayed, stored};
use crate::api::reply::Created;
use crate::api::state::Routers;

/// A router to be.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct CreateRouter {
    #[schema(min_length = 1, max_length = 200, pattern = r"\S", example = "Atendimento")]
    name: String,
    /// A flow of the router. A new one has none, so only null is possible here.
    initial_flow_id: Option<FlowId>,
    #[schema(value_type = TimeZoneName, required = false)]
    tz: Option<String>,
    /// What the provider signs webhooks with. Kept encrypted and never shown.
    #[schema(value_type = Option<String>, format = Password, min_length = 1, max_length = 512)]
    channel_app_secret: Option<SecretString>,
    /// What the provider presents when it verifies the webhook. Never shown.
    #[schema(value_type = Option<String>, format = Password, min_length = 1, max_length = 512)]
    channel_verify_token: Option<SecretString>,
    /// The credential of every AI agent of the router.
    llm_credential_id: Option<LlmCredentialId>,
    #[schema(value_type = Option<WebAddress>)]
    logo_url: Option<String>,
    #[schema(value_type = Option<Object>)]
    sentiment_config: Option<Value>,
    #[schema(value_type = Option<Object>)]
    copilot_config: Option<Value>,
    /// Whether a helpdesk agent's name stands before what he writes.
    #[schema(value_type = bool, required = false)]
    helpdesk_agent_prefix_enabled: Option<bool>,
    /// How it stands there.
    #[schema(value_type = Option<String>, max_length = 500)]
    helpdesk_agent_prefix_template: Option<String>,
}

impl CreateRouter {
    fn into_parts(self) -> (String, RouterChange) {
        let settings = RouterChange {
            name: None,
            initial_flow_id: self.initial_flow_id.map(Some),
            tz: self.tz,
            channel_verify_token: self.channel_verify_token.map(Some),
            channel_app_secret: self.channel_app_secret.map(Some),
            llm_credential_id: self.llm_credential_id.map(Some),
            logo_url: self.logo_url.map(Some),
            sentiment_config: self.sentiment_config.map(Some),
            copilot_config: self.copilot_config.map(Some),
            helpdesk_agent_prefix_enabled: self.helpdesk_agent_prefix_enabled,
            helpdesk_agent_prefix_template: self.helpdesk_agent_prefix_template.map(Some),
        };
        (self.name, settings)
    }
}

/// Create a router
///
/// A caller who is confined to routers would not see it, so it is not for him.
#[utoipa::path(
    post, path = "/routers", tag = "routers",
    params(IdempotencyParams),
    request_body = CreateRouter,
    responses(
        (status = 201, description = "The router", body = RouterView<'static>),
        (status = 409, description = "`idempotency_conflict`"),
        (status = 422, description = "`flow_unknown`: a new router has no flow"),
    )
)]
pub(super) async fn create_router(
    can: Can<marks::Routers, marks::Write>,
    State(routers): State<Arc<Routers>>,
    body: Idempotent<CreateRouter>,
) -> Result<Response, ApiError> {
    let everywhere = can.admit(AllRouters)?;
    let (body, request) = body.of(&can.caller);
    let once =
        request.map(|request| Once { request, answer: |router: &Router| stored(&RouterView::from(router)) });
    let (name, settings) = body.into_parts();
    Ok(match routers.create(&can.caller.author(), everywhere, name, settings, once).await? {
        Outcome::Done(router) => {
            let id = router.id.to_string();
            Created { collection: COLLECTION, id, body: RouterView::from(&router) }.into_response()
        }
        Outcome::Replayed(answer) => Replayed { answer, collection: COLLECTION }.into_response(),
    })
}
