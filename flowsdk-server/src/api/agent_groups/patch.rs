//! `PATCH /agent-groups/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_helpdesk::agent_group::{AgentGroup, AgentGroupChange, AgentGroupId};

use crate::api::body::Body;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::AgentGroups;

/// Change an agent group
#[utoipa::path(
    patch, path = "/agent-groups/{id}", tag = "agent-groups",
    params(("id" = AgentGroupId, Path, description = "The group")),
    request_body = AgentGroupChange,
    responses(
        (status = 200, description = "The group", body = AgentGroup),
        (status = 409, description = "`name_taken`"),
    )
)]
pub(super) async fn patch_agent_group(
    can: Can<marks::Queues, marks::Write>,
    State(groups): State<Arc<AgentGroups>>,
    PathId(id): PathId<AgentGroupId>,
    Body(change): Body<AgentGroupChange>,
) -> Result<Reply<AgentGroup>, ApiError> {
    let (author, reach) = (can.caller.author(), can.reach());
    Ok(Reply(groups.change(&author, reach, &id, change).await?))
}
