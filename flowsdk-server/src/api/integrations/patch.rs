//! `PATCH /integrations/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::IntegrationId;
use flowsdk_core::integration::{BaseUrl, IntegrationChange, IntegrationSettings};
use secrecy::SecretString;
use serde::Deserialize;
use utoipa::ToSchema;

use super::{IntegrationView, SettingsBody};
use crate::api::body::{Body, present};
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::Integrations;

/// What is to change of an integration; an absent field stays.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct PatchIntegration {
    #[schema(value_type = String, required = false, min_length = 1, max_length = 200, pattern = r"\S", example = "CRM")]
    name: Option<String>,
    /// Where the server answers. Another address without `credentials` forgets the credentials.
    #[schema(value_type = BaseUrl, required = false)]
    base_url: Option<BaseUrl>,
    /// What the server wants to see. Kept encrypted and never shown; null forgets it.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<String>, format = Password, min_length = 8, max_length = 4_096, pattern = "^[ -~]+$")]
    credentials: Option<Option<SecretString>>,
    /// All of them.
    #[schema(value_type = SettingsBody, required = false)]
    settings: Option<SettingsBody>,
}

/// Change an integration
#[utoipa::path(
    patch, path = "/integrations/{id}", tag = "integrations",
    params(("id" = IntegrationId, Path, description = "The integration")),
    request_body = PatchIntegration,
    responses((status = 200, description = "The integration", body = IntegrationView))
)]
pub(super) async fn patch_integration(
    can: Can<marks::Routers, marks::Write>,
    State(integrations): State<Arc<Integrations>>,
    PathId(id): PathId<IntegrationId>,
    Body(body): Body<PatchIntegration>,
) -> Result<Reply<IntegrationView>, ApiError> {
    let PatchIntegration { name, base_url, credentials, settings } = body;
    let settings = settings.map(IntegrationSettings::from);
    let change = IntegrationChange { name, base_url, credentials, settings };
    let (author, reach) = (can.caller.author(), can.reach());
    Ok(Reply(integrations.change(&author, reach, &id, change).await?.into()))
}
