//! `GET /quick-replies/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_helpdesk::quick_reply::{QuickReply, QuickReplyId};

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::QuickReplies;

/// Show a quick reply
#[utoipa::path(
    get, path = "/quick-replies/{id}", tag = "quick-replies",
    params(("id" = QuickReplyId, Path, description = "The quick reply")),
    responses((status = 200, description = "The quick reply", body = QuickReply))
)]
pub(super) async fn get_quick_reply(
    can: Can<marks::Helpdesk, marks::Read>,
    State(replies): State<Arc<QuickReplies>>,
    PathId(id): PathId<QuickReplyId>,
) -> Result<Reply<QuickReply>, ApiError> {
    Ok(Reply(replies.get(can.reach(), &id).await?))
}
