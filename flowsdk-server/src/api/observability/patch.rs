//! `PATCH /settings/observability`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::integration::BaseUrl;
use flowsdk_core::observability::ObservabilityChange;
use flowsdk_core::patch::present;
use flowsdk_core::schema::SecureAddress;
use secrecy::SecretString;
use serde::Deserialize;
use utoipa::ToSchema;

use super::ObservabilityView;
use crate::api::body::Body;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::reply::Reply;
use crate::api::state::Observability;

/// Changes of the settings; an absent field stays.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct PatchObservability {
    #[schema(value_type = bool, required = false)]
    enabled: Option<bool>,
    /// The name of the server in its telemetry.
    #[schema(value_type = String, required = false, min_length = 1, max_length = 100, example = "flowsdk")]
    service_name: Option<String>,
    /// Null means the service's own address. Another address without `logfireToken` forgets the token.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<SecureAddress>)]
    endpoint: Option<Option<BaseUrl>>,
    /// Kept encrypted and never shown; null forgets it.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<String>, format = Password, min_length = 1, max_length = 4_096, pattern = "^[!-~]+$")]
    logfire_token: Option<Option<SecretString>>,
}

/// Change the settings of observability
///
/// They are kept, and used by nothing yet.
#[utoipa::path(
    patch, path = "/settings/observability", tag = "settings",
    request_body = PatchObservability,
    responses((status = 200, description = "The settings", body = ObservabilityView))
)]
pub(super) async fn patch_observability(
    _can: Can<marks::Settings, marks::Write>,
    State(observability): State<Arc<Observability>>,
    Body(body): Body<PatchObservability>,
) -> Result<Reply<ObservabilityView>, ApiError> {
    let PatchObservability { enabled, service_name, endpoint, logfire_token } = body;
    let change = ObservabilityChange { enabled, service_name, endpoint, logfire_token };
    Ok(Reply(observability.change(change).await?.into()))
}
