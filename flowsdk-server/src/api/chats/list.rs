//! `GET /chats`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::chat::{ChatFilter, ChatStatus};
use flowsdk_core::id::{ContactId, RouterId};
use flowsdk_core::page::PageRequest;
use utoipa::IntoParams;

use super::view::ChatView;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::query::{FromQuery, PageParams, PageView, Query, QueryReader};
use crate::api::reply::Reply;
use crate::api::state::Chats;

/// Which chats.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
#[allow(dead_code, reason = "the document is made of it")]
struct ChatParams {
    /// Those with this router.
    #[param(value_type = Option<RouterId>)]
    router_id: Option<String>,
    /// Those of this contact.
    #[param(value_type = Option<ContactId>)]
    contact_id: Option<String>,
    #[param(value_type = Option<ChatStatus>)]
    status: Option<String>,
}

impl FromQuery for ChatFilter {
    fn read(query: &mut QueryReader) -> Self {
        Self {
            router_id: query.id("routerId", RouterId::parse),
            contact_id: query.id("contactId", ContactId::parse),
            status: query.one_of("status", &ChatStatus::ALL, ChatStatus::name),
        }
    }
}

/// List chats
///
/// A caller who is confined to routers sees the chats with these only.
#[utoipa::path(
    get, path = "/chats", tag = "chats",
    params(PageParams, ChatParams),
    responses((status = 200, description = "A page of chats", body = PageView<ChatView>))
)]
pub(super) async fn list_chats(
    can: Can<marks::Chats, marks::Read>,
    State(chats): State<Arc<Chats>>,
    Query((page, filter)): Query<(PageRequest, ChatFilter)>,
) -> Result<Reply<PageView<ChatView>>, ApiError> {
    let filter = can.admit(filter)?;
    let page = chats.list(can.reach(), &filter, &page).await?;
    Ok(Reply(PageView::of(page, ChatView::from)))
}
