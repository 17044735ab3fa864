//! `POST /tickets/{id}/sentiment`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_agent::sentiment::Subject;
use flowsdk_core::id::TicketId;
use flowsdk_helpdesk::ticket::{TicketError, TicketView};

use super::by;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::{Desk, SentimentJudge};

/// Judge how the contact of a ticket feels
///
/// The model that `sentimentConfig` of the router names reads the conversation. What it says becomes `sentimentResult` of the
/// ticket, and the last of its `sentimentHistory`. Whoever has the ticket is told by `ticket:sentiment`.
#[utoipa::path(
    post, path = "/tickets/{id}/sentiment", tag = "tickets",
    params(("id" = TicketId, Path, description = "The ticket")),
    responses(
        (status = 200, description = "The ticket", body = TicketView),
        (status = 409, description = "`ticket_closed`; `sentiment_disabled`: the router judges no sentiments on demand; \
            `llm_credential_missing`: the router has no model credential; `budget_used_up`: that of the month; \
            `nothing_said`: the contact has not written"),
        (status = 429, description = "`rate_limited`: two sentiments of the router are being judged"),
        (status = 502, description = "`model_failed`: the model gave no answer of use"),
    )
)]
pub(super) async fn judge_ticket_sentiment(
    can: Can<marks::Helpdesk, marks::Write>,
    State(desk): State<Arc<Desk>>,
    State(judge): State<Arc<SentimentJudge>>,
    PathId(id): PathId<TicketId>,
) -> Result<Reply<TicketView>, ApiError> {
    let author = can.caller.author();
    let by = by(&can, &author);
    let ticket = desk.get(by.reach, &id).await?;
    if !ticket.is_open() {
        return Err(TicketError::Closed.into());
    }
    let subject = Subject {
        ticket_id: ticket.id,
        chat_id: ticket.chat_id,
        contact_id: ticket.contact_id,
        router_id: ticket.router_id,
    };
    let judged = judge.judge(&subject).await?;
    Ok(Reply(desk.note_sentiment(by, &id, &judged).await?.into()))
}
