//! `PATCH /flows/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::admin::flow::FlowChange;
use flowsdk_core::flow::Written;
use flowsdk_core::id::FlowId;
use flowsdk_core::name::Name;
use flowsdk_core::schema::FlowDraft;
use flowsdk_core::text::Text;
use serde::Deserialize;
use utoipa::ToSchema;

use super::FlowDetailsView;
use super::written::with_text;
use crate::api::body::WithText;
use crate::api::error::{ApiError, Problems};
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::Flows;

/// The changes to make to a flow; an absent field stays.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct PatchFlow {
    #[schema(value_type = String, required = false, min_length = 1, max_length = 200, pattern = r"\S", example = "Welcome")]
    name: Option<Name>,
    /// The draft (docs/flows.md). It may have errors; a published version may not.
    #[schema(value_type = FlowDraft, required = false)]
    definition: Option<Written>,
    /// Of the draft that the definition is a change of; required with it.
    #[schema(value_type = i64, required = false, minimum = 0)]
    revision: Option<i64>,
}

impl PatchFlow {
    fn into_change(self) -> Result<FlowChange, ApiError> {
        let definition = match (self.definition, self.revision) {
            (None, _) => None,
            (Some(definition), Some(revision)) => Some((definition, revision)),
            (Some(_), None) => {
                let must = Text::new("Campo obrigatório", "Required field");
                return Err(ApiError::invalid(Problems::one("revision", must)));
            }
        };
        Ok(FlowChange { name: self.name, definition })
    }
}

/// Change a flow
///
/// Its name and its draft. Sessions see nothing of the draft before it is published.
#[utoipa::path(
    patch, path = "/flows/{id}", tag = "flows",
    params(("id" = FlowId, Path, description = "The flow")),
    request_body = PatchFlow,
    responses(
        (status = 200, description = "The flow", body = FlowDetailsView),
        (status = 409, description = "`stale_revision`: somebody else has changed the draft"),
    )
)]
pub(super) async fn patch_flow(
    can: Can<marks::Flows, marks::Write>,
    State(flows): State<Arc<Flows>>,
    PathId(id): PathId<FlowId>,
    WithText { mut body, text }: WithText<PatchFlow>,
) -> Result<Reply<FlowDetailsView>, ApiError> {
    if let Some(definition) = body.definition.take() {
        body.definition = Some(with_text(definition, text).await?);
    }
    let (author, reach) = (can.caller.author(), can.reach());
    Ok(Reply(flows.change(&author, reach, &id, body.into_change()?).await?.into()))
}
