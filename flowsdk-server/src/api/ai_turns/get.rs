//! `GET /ai/turns/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_agent::ledger::{AgentTurnId, AgentTurnView};

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::AgentTurns;

/// Show a turn of an AI agent
///
/// With what the model was told, its texts and calls, the results of the calls, and what each answer took. Turns are kept
/// for 30 days.
#[utoipa::path(
    get, path = "/ai/turns/{id}", tag = "ai-turns",
    params(("id" = AgentTurnId, Path, description = "The turn")),
    responses((status = 200, description = "The turn", body = AgentTurnView))
)]
pub(super) async fn get_ai_turn(
    can: Can<marks::Sessions, marks::Read>,
    State(turns): State<Arc<AgentTurns>>,
    PathId(id): PathId<AgentTurnId>,
) -> Result<Reply<AgentTurnView>, ApiError> {
    Ok(Reply(turns.get(can.reach(), &id).await?))
}
