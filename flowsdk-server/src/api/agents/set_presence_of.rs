//! `PUT /agents/{id}/presence`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_helpdesk::agent::{Absence, DeskAgentId, DeskAgentView};
use serde::Deserialize;
use utoipa::ToSchema;

use super::shown;
use crate::api::body::Body;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::{DeskAgents, Presence};

/// Why an agent takes no tickets.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct AgentAbsence {
    /// That an agent is `online` only they say.
    status: Absence,
}

/// Say that an agent takes no tickets
///
/// It holds until they say otherwise, in all routers of which they are an agent, and their desk is told. Tickets that they
/// have stay theirs: `POST /tickets/{id}/transfer` takes one away.
#[utoipa::path(
    put, path = "/agents/{id}/presence", tag = "agents",
    params(("id" = DeskAgentId, Path, description = "The agent")),
    request_body = AgentAbsence,
    responses((status = 200, description = "The agent", body = DeskAgentView))
)]
pub(super) async fn set_agent_presence(
    can: Can<marks::Queues, marks::Write>,
    State(agents): State<Arc<DeskAgents>>,
    State(presence): State<Arc<Presence>>,
    PathId(id): PathId<DeskAgentId>,
    Body(absence): Body<AgentAbsence>,
) -> Result<Reply<DeskAgentView>, ApiError> {
    let agent = agents.set_absence(&can.caller.author(), can.reach(), &id, absence.status).await?;
    Ok(Reply(shown(&presence, agent).await?))
}
