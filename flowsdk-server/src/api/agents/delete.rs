//! `DELETE /agents/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_helpdesk::agent::DeskAgentId;
use http::StatusCode;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::state::DeskAgents;

/// Make a user an agent no more
///
/// They leave the queues of the router. Tickets that they have stay theirs until they are transferred or closed.
#[utoipa::path(
    delete, path = "/agents/{id}", tag = "agents",
    params(("id" = DeskAgentId, Path, description = "The agent")),
    responses((status = 204, description = "Deleted"))
)]
pub(super) async fn delete_agent(
    can: Can<marks::Queues, marks::Write>,
    State(agents): State<Arc<DeskAgents>>,
    PathId(id): PathId<DeskAgentId>,
) -> Result<StatusCode, ApiError> {
    agents.delete(&can.caller.author(), can.reach(), &id).await?;
    Ok(StatusCode::NO_CONTENT)
}
