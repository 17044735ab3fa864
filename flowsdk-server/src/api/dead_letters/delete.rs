//! `DELETE /dead-letters/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::DeadLetterId;
use http::StatusCode;

use crate::api::error::ApiError;
use crate::api::guard::AdminOnly;
use crate::api::path::PathId;
use crate::api::state::DeadLetters;

/// Delete a dead letter
///
/// The entry is lost for good.
#[utoipa::path(
    delete, path = "/dead-letters/{id}", tag = "dead-letters",
    params(("id" = DeadLetterId, Path, description = "The dead letter")),
    responses((status = 204, description = "Deleted"))
)]
pub(super) async fn delete_dead_letter(
    AdminOnly(caller): AdminOnly,
    State(letters): State<Arc<DeadLetters>>,
    PathId(id): PathId<DeadLetterId>,
) -> Result<StatusCode, ApiError> {
    letters.delete(&caller.author(), &id).await?;
    tracing::info!(letter = %id, by = caller.principal().id(), "a dead letter was deleted");
    Ok(StatusCode::NO_CONTENT)
}
