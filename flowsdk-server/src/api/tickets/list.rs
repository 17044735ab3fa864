//! `GET /tickets`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::{ChatId, QueueId, RouterId, UserId};
use flowsdk_core::page::PageRequest;
use flowsdk_helpdesk::ticket::{TicketFilter, TicketStatus, TicketView};
use utoipa::IntoParams;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::query::{FromQuery, PageParams, PageView, Query, QueryReader};
use crate::api::reply::Reply;
use crate::api::state::Desk;

/// Which tickets.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
#[allow(dead_code, reason = "the document is made of it")]
struct TicketParams {
    /// Those of this router.
    #[param(value_type = Option<RouterId>)]
    router_id: Option<String>,
    #[param(value_type = Option<TicketStatus>)]
    status: Option<String>,
    /// Those of this queue.
    #[param(value_type = Option<QueueId>)]
    queue_id: Option<String>,
    /// Those that this user has, or had last.
    #[param(value_type = Option<UserId>)]
    assigned_user_id: Option<String>,
    /// Those of this chat: its chain.
    #[param(value_type = Option<ChatId>)]
    chat_id: Option<String>,
}

/// Which tickets are wanted.
#[derive(Debug)]
pub(super) struct Wanted(TicketFilter);

impl FromQuery for Wanted {
    fn read(query: &mut QueryReader) -> Self {
        Self(TicketFilter {
            router_id: query.id("routerId", RouterId::parse),
            status: query.one_of("status", &TicketStatus::ALL, TicketStatus::name),
            queue_id: query.id("queueId", QueueId::parse),
            assigned_user_id: query.id("assignedUserId", UserId::parse),
            chat_id: query.id("chatId", ChatId::parse),
        })
    }
}

/// List tickets
///
/// Newest first. A caller who is confined to routers sees the tickets of these only.
#[utoipa::path(
    get, path = "/tickets", tag = "tickets",
    params(PageParams, TicketParams),
    responses((status = 200, description = "A page of tickets", body = PageView<TicketView>))
)]
pub(super) async fn list_tickets(
    can: Can<marks::Helpdesk, marks::Read>,
    State(desk): State<Arc<Desk>>,
    Query((page, Wanted(filter))): Query<(PageRequest, Wanted)>,
) -> Result<Reply<PageView<TicketView>>, ApiError> {
    let filter = can.admit(filter)?;
    let page = desk.list(can.reach(), &filter, &page).await?;
    Ok(Reply(PageView::of(page, TicketView::from)))
}
