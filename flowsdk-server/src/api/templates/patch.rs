//! `PATCH /templates/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_channels::template::{TemplateChange, TemplateView};
use flowsdk_core::id::TemplateId;

use crate::api::body::Body;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::Templates;

/// Change a message template
///
/// Only here: nothing is sent to the provider.
#[utoipa::path(
    patch, path = "/templates/{id}", tag = "templates",
    params(("id" = TemplateId, Path, description = "The template")),
    request_body = TemplateChange,
    responses((status = 200, description = "The template", body = TemplateView))
)]
pub(super) async fn patch_template(
    can: Can<marks::ChannelNumbers, marks::Write>,
    State(templates): State<Arc<Templates>>,
    PathId(id): PathId<TemplateId>,
    Body(change): Body<TemplateChange>,
) -> Result<Reply<TemplateView>, ApiError> {
    let (author, reach) = (can.caller.author(), can.reach());
    Ok(Reply(templates.change(&author, reach, &id, change).await?.into()))
}
