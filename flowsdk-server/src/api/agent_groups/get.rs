//! `GET /agent-groups/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_helpdesk::agent_group::{AgentGroup, AgentGroupId};

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::AgentGroups;

/// Show an agent group
#[utoipa::path(
    get, path = "/agent-groups/{id}", tag = "agent-groups",
    params(("id" = AgentGroupId, Path, description = "The group")),
    responses((status = 200, description = "The group", body = AgentGroup))
)]
pub(super) async fn get_agent_group(
    can: Can<marks::Queues, marks::Read>,
    State(groups): State<Arc<AgentGroups>>,
    PathId(id): PathId<AgentGroupId>,
) -> Result<Reply<AgentGroup>, ApiError> {
    Ok(Reply(groups.get(can.reach(), &id).await?))
}
