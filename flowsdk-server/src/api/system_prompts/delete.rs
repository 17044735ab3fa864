//! `DELETE /system-prompts/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_agent::prompt::SystemPromptId;
use http::StatusCode;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::state::SystemPrompts;

/// Delete a system prompt
#[utoipa::path(
    delete, path = "/system-prompts/{id}", tag = "system-prompts",
    params(("id" = SystemPromptId, Path, description = "The system prompt")),
    responses((status = 204, description = "Deleted"))
)]
pub(super) async fn delete_system_prompt(
    can: Can<marks::Flows, marks::Write>,
    State(prompts): State<Arc<SystemPrompts>>,
    PathId(id): PathId<SystemPromptId>,
) -> Result<StatusCode, ApiError> {
    prompts.delete(&can.caller.author(), can.reach(), &id).await?;
    Ok(StatusCode::NO_CONTENT)
}
