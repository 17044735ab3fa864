//! `PATCH /templates/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_channels::template::{Component, TemplateCategory, TemplateChange, TemplateStatus};
use flowsdk_core::id::TemplateId;
use serde::Deserialize;
use utoipa::ToSchema;

use super::TemplateView;
use crate::api::body::Body;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::Templates;

/// What is to change of a template; an absent field stays.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct PatchTemplate {
    #[schema(value_type = TemplateCategory, required = false)]
    category: Option<TemplateCategory>,
    #[schema(value_type = TemplateStatus, required = false)]
    status: Option<TemplateStatus>,
    #[schema(value_type = Vec<Component>, required = false, max_items = 4)]
    components: Option<Vec<Component>>,
}

/// Change a message template
///
/// Only here: nothing is sent to the provider.
#[utoipa::path(
    patch, path = "/templates/{id}", tag = "templates",
    params(("id" = TemplateId, Path, description = "The template")),
    request_body = PatchTemplate,
    responses((status = 200, description = "The template", body = TemplateView))
)]
pub(super) async fn patch_template(
    can: Can<marks::ChannelNumbers, marks::Write>,
    State(templates): State<Arc<Templates>>,
    PathId(id): PathId<TemplateId>,
    Body(body): Body<PatchTemplate>,
) -> Result<Reply<TemplateView>, ApiError> {
    let PatchTemplate { category, status, components } = body;
    let change = TemplateChange { category, status, components };
    let (author, reach) = (can.caller.author(), can.reach());
    Ok(Reply(templates.change(&author, reach, &id, change).await?.into()))
}
