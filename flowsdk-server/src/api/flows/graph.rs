//! `GET /flows/{id}/graph.svg` and `GET /flows/{id}/graph.mmd`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use flowsdk_core::admin::flow::WhichDefinition;
use flowsdk_core::flow::graph::Graph;
use flowsdk_core::id::FlowId;
use flowsdk_core::text::Text;
use http::{HeaderName, header};
use utoipa::IntoParams;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::heavy::HeavyTurn;
use crate::api::path::PathId;
use crate::api::query::{FromQuery, Query, QueryReader};
use crate::api::state::Flows;

/// A picture that is opened as a page of its own runs nothing and loads nothing, whatever its author wrote.
const POLICY: &str =
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox";

const COMMON: [(HeaderName, &str); 3] = [
    (header::CACHE_CONTROL, "no-store"),
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
];

/// Which definition.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code, reason = "the document is made of it")]
struct GraphParams {
    /// The number of a version, or `published` for the one that new sessions run; absent, the draft.
    #[param(required = false, pattern = "^(draft|published|[1-9][0-9]{0,17})$", example = "published")]
    version: String,
}

impl FromQuery for WhichDefinition {
    fn read(query: &mut QueryReader) -> Self {
        let parse = |text: &str| match text {
            "draft" => Some(Self::Draft),
            "published" => Some(Self::Published),
            number => number.parse().ok().map(Self::Version),
        };
        let must = Text::new(
            "Deve ser draft, published ou o número de uma versão",
            "Must be draft, published or the number of a version",
        );
        query.parsed("version", parse, must).unwrap_or_default()
    }
}

/// Show a flow as a picture
#[utoipa::path(
    get, path = "/flows/{id}/graph.svg", tag = "flows",
    params(("id" = FlowId, Path, description = "The flow"), GraphParams),
    responses(
        (status = 200, description = "The picture, without scripts", body = String, content_type = "image/svg+xml"),
        (status = 422, description = "`flow_invalid`: the draft cannot be read, `details` says where"),
    )
)]
pub(super) async fn flow_as_svg(
    can: Can<marks::Flows, marks::Read>,
    _turn: HeavyTurn,
    State(flows): State<Arc<Flows>>,
    PathId(id): PathId<FlowId>,
    Query(which): Query<WhichDefinition>,
) -> Result<Response, ApiError> {
    let picture = flows.graph(can.reach(), &id, which, Graph::to_svg).await?;
    Ok((COMMON, [(header::CONTENT_TYPE, "image/svg+xml")], picture).into_response())
}

/// Show a flow as Mermaid text
#[utoipa::path(
    get, path = "/flows/{id}/graph.mmd", tag = "flows",
    params(("id" = FlowId, Path, description = "The flow"), GraphParams),
    responses(
        (status = 200, description = "A flowchart", body = String, content_type = "text/plain"),
        (status = 422, description = "`flow_invalid`: the draft cannot be read, `details` says where"),
    )
)]
pub(super) async fn flow_as_mermaid(
    can: Can<marks::Flows, marks::Read>,
    _turn: HeavyTurn,
    State(flows): State<Arc<Flows>>,
    PathId(id): PathId<FlowId>,
    Query(which): Query<WhichDefinition>,
) -> Result<Response, ApiError> {
    let picture = flows.graph(can.reach(), &id, which, Graph::to_mermaid).await?;
    let kind = [(header::CONTENT_TYPE, "text/plain; charset=utf-8")];
    Ok((COMMON, kind, picture).into_response())
}
