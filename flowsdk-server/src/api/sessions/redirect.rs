//! `POST /sessions/{sessionId}/redirect`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use flowsdk_core::admin::session::RedirectTo;
use flowsdk_core::id::{BlockId, FlowId};
use flowsdk_core::session::SessionId;
use serde::Deserialize;
use utoipa::ToSchema;

use super::outcome::{self, OutcomeView, Wait, WaitParams};
use super::path::PathSession;
use super::view::RedirectedView;
use crate::api::body::Body;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::query::Query;
use crate::api::state::Sessions;

/// Where a session is to go.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct RedirectSession {
    flow_id: FlowId,
    block_id: BlockId,
    /// Whether the engine runs the block now, or is only at it and waits for the next message.
    #[serde(default = "flowsdk_core::default::yes")]
    #[schema(required = false, default = true)]
    execute_on_entry: bool,
}

/// Lead a session elsewhere
///
/// Answers as soon as the event is published. The engine follows it later, but before every message that is sent to the
/// session after the answer. With `wait` the answer comes when the engine has handled it, and says how it ended.
#[utoipa::path(
    post, path = "/sessions/{sessionId}/redirect", tag = "sessions",
    params(("sessionId" = SessionId, Path, description = "The session"), WaitParams),
    request_body = RedirectSession,
    responses(
        (status = 200, description = "Published; with `wait`, handled", body = RedirectedView),
        (status = 202, description = "Published, and not handled within `wait`", body = RedirectedView),
        (status = 404, description = "`not_found`, or `flow_not_published`"),
        (status = 409, description = "`session_in_human_attendance` or `cross_router_redirect`"),
        (status = 422, description = "`block_not_found`: the published version has no such block"),
    )
)]
pub(super) async fn redirect_session(
    can: Can<marks::Sessions, marks::Write>,
    State(sessions): State<Arc<Sessions>>,
    PathSession(id): PathSession,
    Query(Wait(patience)): Query<Wait>,
    Body(body): Body<RedirectSession>,
) -> Result<Response, ApiError> {
    let RedirectSession { flow_id, block_id, execute_on_entry } = body;
    let redirect = RedirectTo { flow_id, block_id, execute_on_entry };
    let redirected = sessions.redirect(&can.caller.author(), can.reach(), &id, redirect).await?;
    let outcome = match patience {
        Some(patience) => Some(sessions.outcome_of_redirect(&id, &redirected, patience).await),
        None => None,
    };
    let view = RedirectedView::of(id, redirected, outcome.map(OutcomeView::from));
    Ok(outcome::answer(view.outcome(), &view))
}
