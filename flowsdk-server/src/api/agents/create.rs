//! `POST /agents`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use flowsdk_core::idempotency::{Once, Outcome};
use flowsdk_helpdesk::agent::{DeskAgent, DeskAgentView, NewDeskAgent};

use super::{COLLECTION, shown};
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::idempotency::{IdempotencyParams, Idempotent, Replayed, stored};
use crate::api::reply::Created;
use crate::api::state::{DeskAgents, Presence};

/// Make a user an agent
///
/// Of a router, whose tickets they can be given. A queue gives them tickets when they work in it.
#[utoipa::path(
    post, path = "/agents", tag = "agents",
    params(IdempotencyParams),
    request_body = NewDeskAgent,
    responses(
        (status = 201, description = "The agent", body = DeskAgentView),
        (status = 409, description = "`agent_taken`: the user is an agent of the router; `idempotency_conflict`"),
        (status = 422, description = "`router_unknown`, `user_unknown`"),
    )
)]
pub(super) async fn create_agent(
    can: Can<marks::Queues, marks::Write>,
    State(agents): State<Arc<DeskAgents>>,
    State(presence): State<Arc<Presence>>,
    body: Idempotent<NewDeskAgent>,
) -> Result<Response, ApiError> {
    let (new, request) = body.of(&can.caller);
    let once = request.map(|request| Once {
        request,
        answer: |agent: &DeskAgent| stored(&DeskAgentView::new(agent.clone(), None)),
    });
    Ok(match agents.create(&can.caller.author(), can.reach(), can.admit(new)?, once).await? {
        Outcome::Done(agent) => {
            let body = shown(&presence, agent).await?;
            Created { collection: COLLECTION, id: body.id.to_string(), body }.into_response()
        }
        Outcome::Replayed(answer) => Replayed { answer, collection: COLLECTION }.into_response(),
    })
}
