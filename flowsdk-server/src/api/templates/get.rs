//! `GET /templates/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_channels::template::TemplateView;
use flowsdk_core::id::TemplateId;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::Templates;

/// Show a message template
#[utoipa::path(
    get, path = "/templates/{id}", tag = "templates",
    params(("id" = TemplateId, Path, description = "The template")),
    responses((status = 200, description = "The template", body = TemplateView))
)]
pub(super) async fn get_template(
    can: Can<marks::ChannelNumbers, marks::Read>,
    State(templates): State<Arc<Templates>>,
    PathId(id): PathId<TemplateId>,
) -> Result<Reply<TemplateView>, ApiError> {
    Ok(Reply(templates.get(can.reach(), &id).await?.into()))
}
