//! `GET /agents/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_helpdesk::agent::{DeskAgentId, DeskAgentView};

use super::shown;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::{DeskAgents, Presence};

/// Show an agent
#[utoipa::path(
    get, path = "/agents/{id}", tag = "agents",
    params(("id" = DeskAgentId, Path, description = "The agent")),
    responses((status = 200, description = "The agent", body = DeskAgentView))
)]
pub(super) async fn get_agent(
    can: Can<marks::Queues, marks::Read>,
    State(agents): State<Arc<DeskAgents>>,
    State(presence): State<Arc<Presence>>,
    PathId(id): PathId<DeskAgentId>,
) -> Result<Reply<DeskAgentView>, ApiError> {
    let agent = agents.get(can.reach(), &id).await?;
    Ok(Reply(shown(&presence, agent).await?))
}
