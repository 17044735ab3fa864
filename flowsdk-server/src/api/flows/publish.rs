//! `POST /flows/{id}/publish`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::FlowId;
use flowsdk_core::text::Text;
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};

use super::VersionView;
use super::problems::{self, ProblemView};
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::heavy::HeavyTurn;
use crate::api::path::PathId;
use crate::api::query::{FromQuery, Query, QueryReader};
use crate::api::reply::Reply;
use crate::api::request;
use crate::api::state::Flows;

/// Which draft.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code, reason = "the document is made of it")]
struct PublishParams {
    /// Publishes the draft only if this is its revision.
    #[param(minimum = 0)]
    revision: Option<i64>,
}

/// The revision that is to be published, if the caller cares.
#[derive(Debug)]
pub(super) struct Revision(Option<i64>);

impl FromQuery for Revision {
    fn read(query: &mut QueryReader) -> Self {
        let must = Text::new("Deve ser um número inteiro", "Must be a whole number");
        Self(query.parsed("revision", |text| text.parse().ok(), must))
    }
}

/// The version that was published.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = FlowPublished)]
pub(super) struct PublishedView {
    #[serde(flatten)]
    version: VersionView,
    /// Problems that do not prevent publishing; the first 1,000.
    #[schema(max_items = 1_000)]
    warnings: Vec<ProblemView>,
    /// How many more there are.
    #[serde(rename = "warningsLeftOut")]
    warnings_left_out: usize,
}

/// Publish the draft of a flow
///
/// Makes it a version that never changes. New sessions run it; running ones stay on theirs. A draft that is published
/// already makes no other version.
#[utoipa::path(
    post, path = "/flows/{id}/publish", tag = "flows",
    params(("id" = FlowId, Path, description = "The flow"), PublishParams),
    responses(
        (status = 200, description = "The version", body = PublishedView),
        (status = 409, description = "`stale_revision`"),
        (status = 422, description = "`flow_invalid`: `details` names every error by its place"),
    )
)]
pub(super) async fn publish_flow(
    can: Can<marks::Flows, marks::Write>,
    _turn: HeavyTurn,
    State(flows): State<Arc<Flows>>,
    PathId(id): PathId<FlowId>,
    Query(revision): Query<Revision>,
) -> Result<Reply<PublishedView>, ApiError> {
    let (author, reach) = (can.caller.author(), can.reach());
    let (version, warnings) = flows.publish(&author, reach, &id, revision.0).await?;
    let (_, language) = request::facts();
    let (warnings, warnings_left_out) = problems::first(warnings, language);
    Ok(Reply(PublishedView { version: VersionView::of(&version, true), warnings, warnings_left_out }))
}
