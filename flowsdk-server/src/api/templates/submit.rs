//! `POST /templates/{id}/submit`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_channels::template::TemplateView;
use flowsdk_core::id::TemplateId;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::TemplateSync;

/// Submit a draft of a message template to the provider
///
/// The provider reviews it; the template then has its status, and changes it as the provider tells. After
/// `provider_unanswered` the provider may have it: `POST /templates/sync` finds out.
#[utoipa::path(
    post, path = "/templates/{id}/submit", tag = "templates",
    params(("id" = TemplateId, Path, description = "The template")),
    responses(
        (status = 200, description = "The template, with the status of its review", body = TemplateView),
        (status = 409, description = "`already_submitted`: it is no draft"),
        (status = 422, description = "`no_access_token`; `provider_refused`, with the code and words of the provider"),
        (status = 502, description = "`provider_unreachable`"),
        (status = 504, description = "`provider_unanswered`"),
    )
)]
pub(super) async fn submit_template(
    can: Can<marks::ChannelNumbers, marks::Write>,
    State(templates): State<Arc<TemplateSync>>,
    PathId(id): PathId<TemplateId>,
) -> Result<Reply<TemplateView>, ApiError> {
    let (author, reach) = (can.caller.author(), can.reach());
    Ok(Reply(templates.submit(&author, reach, &id).await?.into()))
}
