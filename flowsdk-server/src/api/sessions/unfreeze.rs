//! `POST /sessions/{sessionId}/unfreeze`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use flowsdk_core::admin::session::Unfreeze;
use flowsdk_core::session::SessionId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::outcome::{self, OutcomeView, Wait, WaitParams};
use super::path::PathSession;
use crate::api::body::Body;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::query::Query;
use crate::api::state::Sessions;

/// How a session is unfrozen.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum UnfreezeAction {
    /// The session and everything kept for it is thrown away.
    Delete,
    /// The entry that failed is tried again, then the entries that were kept, in order.
    Resume,
}

/// The request to unfreeze a session.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct UnfreezeSession {
    action: UnfreezeAction,
}

/// The action that was accepted.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Unfrozen {
    /// Always true.
    ok: bool,
    session_id: SessionId,
    action: UnfreezeAction,
    /// Only of `resume` with `wait`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    outcome: Option<OutcomeView>,
}

/// Unfreeze a session
///
/// `resume` answers as soon as the replay is published; the engine does it later, on the version of the flow that is
/// published then, if that has the session's block. Until the last kept entry has run, new entries wait behind.
/// If one fails again, the session is frozen again. With `wait` the answer comes when the last has run, or one has
/// failed, and says how it ended.
#[utoipa::path(
    post, path = "/sessions/{sessionId}/unfreeze", tag = "sessions",
    params(("sessionId" = SessionId, Path, description = "The session"), WaitParams),
    request_body = UnfreezeSession,
    responses(
        (status = 200, description = "Done, or published; with `wait`, replayed", body = Unfrozen),
        (status = 202, description = "Published, and not replayed within `wait`", body = Unfrozen),
        (status = 409, description = "`session_not_frozen`"),
    )
)]
pub(super) async fn unfreeze_session(
    can: Can<marks::Sessions, marks::Write>,
    State(sessions): State<Arc<Sessions>>,
    PathSession(id): PathSession,
    Query(Wait(patience)): Query<Wait>,
    Body(body): Body<UnfreezeSession>,
) -> Result<Response, ApiError> {
    let action = match body.action {
        UnfreezeAction::Delete => Unfreeze::Delete,
        UnfreezeAction::Resume => Unfreeze::Resume,
    };
    let resumed = sessions.unfreeze(&can.caller.author(), can.reach(), &id, action).await?;
    let outcome = match (resumed, patience) {
        (Some(frozen_at), Some(patience)) => {
            Some(sessions.outcome_of_resumption(&id, frozen_at, patience).await.into())
        }
        _ => None,
    };
    let view = Unfrozen { ok: true, session_id: id, action: body.action, outcome };
    Ok(outcome::answer(view.outcome.as_ref(), &view))
}
