//! `POST /dead-letters/{id}/retry`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::DeadLetterId;
use http::StatusCode;

use crate::api::error::ApiError;
use crate::api::guard::AdminOnly;
use crate::api::path::PathId;
use crate::api::state::DeadLetters;

/// Retry a dead letter
///
/// Publishes the entry again, behind the other entries of its key, and deletes the dead letter. Of several retries of
/// the same one, one publishes it. Should the entry fail again, it is a new dead letter.
#[utoipa::path(
    post, path = "/dead-letters/{id}/retry", tag = "dead-letters",
    params(("id" = DeadLetterId, Path, description = "The dead letter")),
    responses(
        (status = 204, description = "Published"),
        (status = 409, description = "`stream_not_read`: no part of this installation reads the stream"),
    )
)]
pub(super) async fn retry_dead_letter(
    AdminOnly(caller): AdminOnly,
    State(letters): State<Arc<DeadLetters>>,
    PathId(id): PathId<DeadLetterId>,
) -> Result<StatusCode, ApiError> {
    letters.retry(&caller.author(), &id).await?;
    tracing::info!(letter = %id, by = caller.principal().id(), "a dead letter was retried");
    Ok(StatusCode::NO_CONTENT)
}
