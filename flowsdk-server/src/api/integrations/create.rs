//! `POST /integrations`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use flowsdk_core::id::RouterId;
use flowsdk_core::idempotency::{Once, Outcome};
use flowsdk_core::integration::{BaseUrl, Integration, IntegrationKind, IntegrationSettings, NewIntegration};
use secrecy::SecretString;
use serde::Deserialize;
use utoipa::ToSchema;

use super::{COLLECTION, IntegrationView, SettingsBody};
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::idempotency::{IdempotencyParams, Idempotent, Replayed, stored};
use crate::api::reply::Created;
use crate::api::state::Integrations;

/// An integration to be.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct CreateIntegration {
    router_id: RouterId,
    #[schema(min_length = 1, max_length = 200, pattern = r"\S", example = "CRM")]
    name: String,
    kind: IntegrationKind,
    /// Where the server answers.
    base_url: BaseUrl,
    /// What the server wants to see. Kept encrypted and never shown.
    #[schema(value_type = Option<String>, format = Password, min_length = 8, max_length = 4_096, pattern = "^[ -~]+$")]
    credentials: Option<SecretString>,
    #[schema(value_type = SettingsBody, required = false)]
    settings: Option<SettingsBody>,
}

/// Create an integration
#[utoipa::path(
    post, path = "/integrations", tag = "integrations",
    params(IdempotencyParams),
    request_body = CreateIntegration,
    responses(
        (status = 201, description = "The integration", body = IntegrationView),
        (status = 409, description = "`idempotency_conflict`"),
        (status = 422, description = "`router_unknown`"),
    )
)]
pub(super) async fn create_integration(
    can: Can<marks::Routers, marks::Write>,
    State(integrations): State<Arc<Integrations>>,
    body: Idempotent<CreateIntegration>,
) -> Result<Response, ApiError> {
    let (body, request) = body.of(&can.caller);
    let once = request.map(|request| Once {
        request,
        answer: |integration: &Integration| stored(&IntegrationView::from(integration.clone())),
    });
    let CreateIntegration { router_id, name, kind, base_url, credentials, settings } = body;
    let settings = settings.map(IntegrationSettings::from).unwrap_or_default();
    let new = can.admit(NewIntegration { router_id, name, kind, base_url, credentials, settings })?;
    Ok(match integrations.create(&can.caller.author(), new, once).await? {
        Outcome::Done(integration) => {
            let body = IntegrationView::from(integration);
            Created { collection: COLLECTION, id: body.id.to_string(), body }.into_response()
        }
        Outcome::Replayed(answer) => Replayed { answer, collection: COLLECTION }.into_response(),
    })
}
