//! `GET /chats/{id}/messages`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::ChatId;
use flowsdk_core::page::PageRequest;

use super::view::ChatMessageView;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::query::{PageParams, PageView, Query};
use crate::api::reply::Reply;
use crate::api::state::Chats;

/// List the messages of a chat
#[utoipa::path(
    get, path = "/chats/{id}/messages", tag = "chats",
    params(("id" = ChatId, Path, description = "The chat"), PageParams),
    responses((status = 200, description = "A page of messages", body = PageView<ChatMessageView>))
)]
pub(super) async fn list_chat_messages(
    can: Can<marks::Chats, marks::Read>,
    State(chats): State<Arc<Chats>>,
    PathId(id): PathId<ChatId>,
    Query(page): Query<PageRequest>,
) -> Result<Reply<PageView<ChatMessageView>>, ApiError> {
    let page = chats.messages(can.reach(), &id, &page).await?;
    Ok(Reply(PageView::of(page, ChatMessageView::from)))
}
