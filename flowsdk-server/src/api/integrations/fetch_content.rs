//! `POST /integrations/{id}/fetch-content`.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::IntegrationId;
use flowsdk_core::integration::{Fetch, Fetched};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::api::body::Body;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::Integrations;

/// The request to the server.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct FetchContent {
    /// Below `baseUrl`; absent, `baseUrl` itself is asked.
    #[serde(default)]
    #[schema(required = false, max_length = 2_048, example = "/customers/7")]
    path: String,
    /// Names and values of the query.
    #[serde(default)]
    #[schema(required = false)]
    query: BTreeMap<String, String>,
}

/// The server's answer. Credentials that it echoes are `***`.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = FetchedContent)]
pub(super) struct FetchedView {
    /// Its status, whichever.
    #[schema(example = 200)]
    status: u16,
    #[schema(required = true, example = "application/json")]
    content_type: Option<String>,
    /// JSON where it is JSON, otherwise a text.
    content: Value,
}

impl From<Fetched> for FetchedView {
    fn from(fetched: Fetched) -> Self {
        let Fetched { status, content_type, content } = fetched;
        Self { status, content_type, content }
    }
}

/// Ask the server of an integration
///
/// A GET with the credentials of the integration, to a public address or an allowed host, of at most 1 MiB.
#[utoipa::path(
    post, path = "/integrations/{id}/fetch-content", tag = "integrations",
    params(("id" = IntegrationId, Path, description = "The integration")),
    request_body = FetchContent,
    responses(
        (status = 200, description = "The server's answer, whatever its status", body = FetchedView),
        (status = 422, description = "`provider_refused`: its address is not public"),
        (status = 502, description = "`provider_unreachable`; `provider_answer_too_large`"),
        (status = 504, description = "`provider_timeout`"),
    )
)]
pub(super) async fn fetch_integration_content(
    can: Can<marks::Routers, marks::Write>,
    State(integrations): State<Arc<Integrations>>,
    PathId(id): PathId<IntegrationId>,
    Body(body): Body<FetchContent>,
) -> Result<Reply<FetchedView>, ApiError> {
    let fetch = Fetch { path: body.path, query: body.query.into_iter().collect() };
    Ok(Reply(integrations.fetch(can.reach(), &id, &fetch).await?.into()))
}
