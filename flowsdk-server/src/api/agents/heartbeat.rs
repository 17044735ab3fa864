//! `POST /agents/me/heartbeat`.

use std::sync::Arc;

use axum::extract::State;

use super::OwnPresence;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::reply::Reply;
use crate::api::state::Presence;

/// Renew your presence
///
/// Answers with the presence that holds for another 60 seconds. One that has run out is `offline`, and is to be set anew.
#[utoipa::path(
    post, path = "/agents/me/heartbeat", tag = "agents",
    responses((status = 200, description = "The presence", body = OwnPresence))
)]
pub(super) async fn renew_own_presence(
    can: Can<marks::Helpdesk, marks::Write>,
    State(presence): State<Arc<Presence>>,
) -> Result<Reply<OwnPresence>, ApiError> {
    let status = presence.renew(can.caller.authenticated().require_user()?).await?;
    Ok(Reply(OwnPresence { status }))
}
