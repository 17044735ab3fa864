//! `PATCH /agents/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_helpdesk::agent::{DeskAgentChange, DeskAgentId, DeskAgentView};

use super::shown;
use crate::api::body::Body;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::{DeskAgents, Presence};

/// Change an agent
#[utoipa::path(
    patch, path = "/agents/{id}", tag = "agents",
    params(("id" = DeskAgentId, Path, description = "The agent")),
    request_body = DeskAgentChange,
    responses((status = 200, description = "The agent", body = DeskAgentView))
)]
pub(super) async fn patch_agent(
    can: Can<marks::Queues, marks::Write>,
    State(agents): State<Arc<DeskAgents>>,
    State(presence): State<Arc<Presence>>,
    PathId(id): PathId<DeskAgentId>,
    Body(change): Body<DeskAgentChange>,
) -> Result<Reply<DeskAgentView>, ApiError> {
    let agent = agents.change(&can.caller.author(), can.reach(), &id, change).await?;
    Ok(Reply(shown(&presence, agent).await?))
}
