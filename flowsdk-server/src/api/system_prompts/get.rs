//! `GET /system-prompts/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_agent::prompt::{SystemPrompt, SystemPromptId};

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::SystemPrompts;

/// Show a system prompt
#[utoipa::path(
    get, path = "/system-prompts/{id}", tag = "system-prompts",
    params(("id" = SystemPromptId, Path, description = "The system prompt")),
    responses((status = 200, description = "The system prompt", body = SystemPrompt))
)]
pub(super) async fn get_system_prompt(
    can: Can<marks::Flows, marks::Read>,
    State(prompts): State<Arc<SystemPrompts>>,
    PathId(id): PathId<SystemPromptId>,
) -> Result<Reply<SystemPrompt>, ApiError> {
    Ok(Reply(prompts.get(can.reach(), &id).await?))
}
