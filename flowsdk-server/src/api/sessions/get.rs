//! `GET /sessions/{sessionId}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::session::SessionId;

use super::path::PathSession;
use super::view::SessionStateView;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::reply::Reply;
use crate::api::state::Sessions;

/// Show a session
#[utoipa::path(
    get, path = "/sessions/{sessionId}", tag = "sessions",
    params(("sessionId" = SessionId, Path, description = "The session")),
    responses((status = 200, description = "The state of the session", body = SessionStateView))
)]
pub(super) async fn get_session(
    can: Can<marks::Sessions, marks::Read>,
    State(sessions): State<Arc<Sessions>>,
    PathSession(id): PathSession,
) -> Result<Reply<SessionStateView>, ApiError> {
    Ok(Reply(sessions.get(can.reach(), &id).await?.into()))
}
