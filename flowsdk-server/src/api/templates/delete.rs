//! `DELETE /templates/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::TemplateId;
use http::StatusCode;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::state::Templates;

/// Delete a message template
///
/// The provider's own stays.
#[utoipa::path(
    delete, path = "/templates/{id}", tag = "templates",
    params(("id" = TemplateId, Path, description = "The template")),
    responses((status = 204, description = "Deleted"))
)]
pub(super) async fn delete_template(
    can: Can<marks::ChannelNumbers, marks::Write>,
    State(templates): State<Arc<Templates>>,
    PathId(id): PathId<TemplateId>,
) -> Result<StatusCode, ApiError> {
    templates.delete(&can.caller.author(), can.reach(), &id).await?;
    Ok(StatusCode::NO_CONTENT)
}
