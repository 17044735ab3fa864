//! `PUT /agents/me/presence`.

use std::sync::Arc;

use axum::extract::State;

use super::OwnPresence;
use crate::api::body::Body;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::reply::Reply;
use crate::api::state::Presence;

/// Say whether you are at the desk
///
/// Whoever is `online` is given what waits in their queues. It holds for 60 seconds: renew it by
/// `POST /agents/me/heartbeat`, about every 30.
#[utoipa::path(
    put, path = "/agents/me/presence", tag = "agents",
    request_body = OwnPresence,
    responses((status = 200, description = "The presence", body = OwnPresence))
)]
pub(super) async fn set_own_presence(
    can: Can<marks::Helpdesk, marks::Write>,
    State(presence): State<Arc<Presence>>,
    Body(own): Body<OwnPresence>,
) -> Result<Reply<OwnPresence>, ApiError> {
    presence.set(can.caller.authenticated().require_user()?, own.status).await?;
    Ok(Reply(own))
}
