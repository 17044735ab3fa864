//! `GET /messages/{messageId}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::MessageId;

use super::view::MessageView;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::Chats;

/// Show how far a message came
#[utoipa::path(
    get, path = "/messages/{messageId}", tag = "chats",
    params(("messageId" = MessageId, Path, description = "The message")),
    responses((status = 200, description = "The message", body = MessageView))
)]
pub(super) async fn get_message(
    can: Can<marks::Chats, marks::Read>,
    State(chats): State<Arc<Chats>>,
    PathId(id): PathId<MessageId>,
) -> Result<Reply<MessageView>, ApiError> {
    Ok(Reply(chats.message(can.reach(), &id).await?.into()))
}
