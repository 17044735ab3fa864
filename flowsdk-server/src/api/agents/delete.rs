//! `DELETE /agents/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_helpdesk::agent::DeskAgentId;
use http::StatusCode;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::query::{Force, ForceParams, Query};
use crate::api::state::DeskAgents;

/// Make a user an agent no more
///
/// They leave the queues of the router. With `force` the tickets that they have wait again within five seconds.
#[utoipa::path(
    delete, path = "/agents/{id}", tag = "agents",
    params(("id" = DeskAgentId, Path, description = "The agent"), ForceParams),
    responses(
        (status = 204, description = "Deleted"),
        (status = 409, description = "`in_use`: `details` counts the open tickets that they have or are offered"),
    )
)]
pub(super) async fn delete_agent(
    can: Can<marks::Queues, marks::Write>,
    State(agents): State<Arc<DeskAgents>>,
    PathId(id): PathId<DeskAgentId>,
    Query(force): Query<Force>,
) -> Result<StatusCode, ApiError> {
    let (author, force) = (can.caller.author(), force.of(&can.caller)?);
    agents.delete(&author, can.reach(), &id, force).await?;
    Ok(StatusCode::NO_CONTENT)
}
