//! `POST /agent-groups`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use flowsdk_core::idempotency::{Once, Outcome};
use flowsdk_helpdesk::agent_group::{AgentGroup, NewAgentGroup};

use super::COLLECTION;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::idempotency::{IdempotencyParams, Idempotent, Replayed, stored};
use crate::api::reply::Created;
use crate::api::state::AgentGroups;

/// Create an agent group
#[utoipa::path(
    post, path = "/agent-groups", tag = "agent-groups",
    params(IdempotencyParams),
    request_body = NewAgentGroup,
    responses(
        (status = 201, description = "The group", body = AgentGroup),
        (status = 409, description = "`name_taken`: the router has a group of this name; `idempotency_conflict`"),
        (status = 422, description = "`router_unknown`"),
    )
)]
pub(super) async fn create_agent_group(
    can: Can<marks::Queues, marks::Write>,
    State(groups): State<Arc<AgentGroups>>,
    body: Idempotent<NewAgentGroup>,
) -> Result<Response, ApiError> {
    let (new, request) = body.of(&can.caller);
    let once = request.map(|request| Once { request, answer: |made: &AgentGroup| stored(made) });
    Ok(match groups.create(&can.caller.author(), can.admit(new)?, once).await? {
        Outcome::Done(body) => {
            Created { collection: COLLECTION, id: body.id.to_string(), body }.into_response()
        }
        Outcome::Replayed(answer) => Replayed { answer, collection: COLLECTION }.into_response(),
    })
}
