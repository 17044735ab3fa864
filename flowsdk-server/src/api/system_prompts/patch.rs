//! `PATCH /system-prompts/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_agent::prompt::{SystemPrompt, SystemPromptChange, SystemPromptId};

use crate::api::body::Body;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::SystemPrompts;

/// Change a system prompt
#[utoipa::path(
    patch, path = "/system-prompts/{id}", tag = "system-prompts",
    params(("id" = SystemPromptId, Path, description = "The system prompt")),
    request_body = SystemPromptChange,
    responses(
        (status = 200, description = "The system prompt", body = SystemPrompt),
    )
)]
pub(super) async fn patch_system_prompt(
    can: Can<marks::Flows, marks::Write>,
    State(prompts): State<Arc<SystemPrompts>>,
    PathId(id): PathId<SystemPromptId>,
    Body(change): Body<SystemPromptChange>,
) -> Result<Reply<SystemPrompt>, ApiError> {
    let (author, reach) = (can.caller.author(), can.reach());
    Ok(Reply(prompts.change(&author, reach, &id, change).await?))
}
