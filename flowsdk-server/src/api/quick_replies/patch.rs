//! `PATCH /quick-replies/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_helpdesk::quick_reply::{QuickReply, QuickReplyChange, QuickReplyId};

use crate::api::body::Body;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::QuickReplies;

/// Change a quick reply
#[utoipa::path(
    patch, path = "/quick-replies/{id}", tag = "quick-replies",
    params(("id" = QuickReplyId, Path, description = "The quick reply")),
    request_body = QuickReplyChange,
    responses(
        (status = 200, description = "The quick reply", body = QuickReply),
        (status = 409, description = "`shortcut_taken`"),
        (status = 422, description = "`queue_unknown`"),
    )
)]
pub(super) async fn patch_quick_reply(
    can: Can<marks::Helpdesk, marks::Write>,
    State(replies): State<Arc<QuickReplies>>,
    PathId(id): PathId<QuickReplyId>,
    Body(change): Body<QuickReplyChange>,
) -> Result<Reply<QuickReply>, ApiError> {
    let (author, reach) = (can.caller.author(), can.reach());
    Ok(Reply(replies.change(&author, reach, &id, change).await?))
}
