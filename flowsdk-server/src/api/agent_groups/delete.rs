//! `DELETE /agent-groups/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_helpdesk::agent_group::AgentGroupId;
use http::StatusCode;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::state::AgentGroups;

/// Delete an agent group
#[utoipa::path(
    delete, path = "/agent-groups/{id}", tag = "agent-groups",
    params(("id" = AgentGroupId, Path, description = "The group")),
    responses((status = 204, description = "Deleted"))
)]
pub(super) async fn delete_agent_group(
    can: Can<marks::Queues, marks::Write>,
    State(groups): State<Arc<AgentGroups>>,
    PathId(id): PathId<AgentGroupId>,
) -> Result<StatusCode, ApiError> {
    groups.delete(&can.caller.author(), can.reach(), &id).await?;
    Ok(StatusCode::NO_CONTENT)
}
