//! `DELETE /quick-replies/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_helpdesk::quick_reply::QuickReplyId;
use http::StatusCode;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::state::QuickReplies;

/// Delete a quick reply
#[utoipa::path(
    delete, path = "/quick-replies/{id}", tag = "quick-replies",
    params(("id" = QuickReplyId, Path, description = "The quick reply")),
    responses((status = 204, description = "Deleted"))
)]
pub(super) async fn delete_quick_reply(
    can: Can<marks::Helpdesk, marks::Write>,
    State(replies): State<Arc<QuickReplies>>,
    PathId(id): PathId<QuickReplyId>,
) -> Result<StatusCode, ApiError> {
    replies.delete(&can.caller.author(), can.reach(), &id).await?;
    Ok(StatusCode::NO_CONTENT)
}
