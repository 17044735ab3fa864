//! `GET /tickets/{id}/quick-replies`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::TicketId;
use flowsdk_helpdesk::quick_reply::ResolvedQuickReply;
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::QuickReplies;

/// The quick replies of a ticket, by name.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct TicketQuickReplies {
    items: Vec<ResolvedQuickReply>,
}

/// List the quick replies of a ticket
///
/// Those of its router that are for its queue or for all, with the values of their placeholders. One without a value stays
/// as it is.
#[utoipa::path(
    get, path = "/tickets/{id}/quick-replies", tag = "tickets",
    params(("id" = TicketId, Path, description = "The ticket")),
    responses((status = 200, description = "The quick replies", body = TicketQuickReplies))
)]
pub(super) async fn list_ticket_quick_replies(
    can: Can<marks::Helpdesk, marks::Read>,
    State(replies): State<Arc<QuickReplies>>,
    PathId(id): PathId<TicketId>,
) -> Result<Reply<TicketQuickReplies>, ApiError> {
    Ok(Reply(TicketQuickReplies { items: replies.for_ticket(can.reach(), &id).await? }))
}
