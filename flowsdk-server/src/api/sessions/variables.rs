//! `PATCH /sessions/{sessionId}/variables`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::session::{InvalidVariable, SentVariables, SessionId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::path::PathSession;
use crate::api::body::Body;
use crate::api::error::{ApiError, Problems};
use crate::api::guard::{Can, marks};
use crate::api::reply::Reply;
use crate::api::state::Sessions;

/// Variables to merge: those in the body are replaced, all others stay; null is a value.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PatchSessionVariables {
    #[schema(value_type = Object, additional_properties = true, example = json!({ "plan": "pro" }))]
    variables: Map<String, Value>,
}

/// The variables after the merge.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SessionVariables {
    /// Always true.
    ok: bool,
    session_id: SessionId,
    #[schema(value_type = Object, additional_properties = true)]
    variables: Map<String, Value>,
}

/// Refused variables of the field `field`.
pub(in crate::api) fn refused(field: &str, errors: Vec<InvalidVariable>) -> ApiError {
    let mut problems = Problems::default();
    for error in errors {
        problems.add(format!("{field}.{}", error.key), error.text);
    }
    ApiError::invalid(problems)
}

/// Merge variables into those of a session
///
/// Also while a turn runs, or while the session is frozen: neither loses what the other wrote.
#[utoipa::path(
    patch, path = "/sessions/{sessionId}/variables", tag = "sessions",
    params(("sessionId" = SessionId, Path, description = "The session")),
    request_body = PatchSessionVariables,
    responses(
        (status = 200, description = "All variables of the session", body = SessionVariables),
        (status = 422, description = "`variables_too_large`: more than 256 KiB in total or 64 KiB in one, and more than before"),
    )
)]
pub(super) async fn patch_session_variables(
    can: Can<marks::Sessions, marks::Write>,
    State(sessions): State<Arc<Sessions>>,
    PathSession(id): PathSession,
    Body(body): Body<PatchSessionVariables>,
) -> Result<Reply<SessionVariables>, ApiError> {
    let sent = SentVariables::check(body.variables).map_err(|errors| refused("variables", errors))?;
    let variables = sessions.merge_variables(&can.caller.author(), can.reach(), &id, &sent).await?;
    Ok(Reply(SessionVariables { ok: true, session_id: id, variables }))
}
