//! `GET /dead-letters/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::DeadLetterId;

use super::DeadLetterView;
use crate::api::error::ApiError;
use crate::api::guard::AdminOnly;
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::DeadLetters;

/// Show a dead letter
#[utoipa::path(
    get, path = "/dead-letters/{id}", tag = "dead-letters",
    params(("id" = DeadLetterId, Path, description = "The dead letter")),
    responses((status = 200, description = "The dead letter", body = DeadLetterView))
)]
pub(super) async fn get_dead_letter(
    _admin: AdminOnly,
    State(letters): State<Arc<DeadLetters>>,
    PathId(id): PathId<DeadLetterId>,
) -> Result<Reply<DeadLetterView>, ApiError> {
    Ok(Reply(letters.get(&id).await?.into()))
}
