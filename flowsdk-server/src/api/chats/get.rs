//! `GET /chats/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::ChatId;

use super::view::ChatView;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::Chats;

/// Show a chat
#[utoipa::path(
    get, path = "/chats/{id}", tag = "chats",
    params(("id" = ChatId, Path, description = "The chat")),
    responses((status = 200, description = "The chat", body = ChatView))
)]
pub(super) async fn get_chat(
    can: Can<marks::Chats, marks::Read>,
    State(chats): State<Arc<Chats>>,
    PathId(id): PathId<ChatId>,
) -> Result<Reply<ChatView>, ApiError> {
    Ok(Reply(chats.get(can.reach(), &id).await?.into()))
}
