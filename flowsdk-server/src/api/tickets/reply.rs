//! `POST /tickets/{id}/messages`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use flowsdk_core::id::TicketId;
use flowsdk_core::idempotency::{Once, Outcome};
use flowsdk_helpdesk::desk::{Replied, ReplyToContact};

use super::by;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::idempotency::{IdempotencyParams, Idempotent, Replayed, stored};
use crate::api::path::PathId;
use crate::api::reply::Created;
use crate::api::state::Desk;

/// Where messages are.
const COLLECTION: &str = "/messages";

/// Answer the contact
///
/// Only the agent who has the ticket may. The contact sees the name of the user. `text` or `content` is what they get.
#[utoipa::path(
    post, path = "/tickets/{id}/messages", tag = "tickets",
    params(("id" = TicketId, Path, description = "The ticket"), IdempotencyParams),
    request_body = ReplyToContact,
    responses(
        (status = 201, description = "The message", body = Replied),
        (status = 409, description = "`ticket_closed`; `ticket_waiting`; `ticket_assigned`: another agent has it; \
            `ticket_of_ai_agent`: AI agents have it; \
            `conversation_moved_on`; `messages_unseen`: the contact has written after `lastSeenMessageId`; \
            `window_closed`; `idempotency_conflict`"),
        (status = 422, description = "`content_unsupported`: the channel does not carry it; `media_unknown`: the \
            router has no such file; `message_unknown`: the chat has no such message"),
    )
)]
pub(super) async fn reply_to_ticket(
    can: Can<marks::Helpdesk, marks::Write>,
    State(desk): State<Arc<Desk>>,
    PathId(id): PathId<TicketId>,
    body: Idempotent<ReplyToContact>,
) -> Result<Response, ApiError> {
    can.caller.authenticated().require_user()?;
    let (reply, request) = body.of(&can.caller);
    let once = request.map(|request| Once { request, answer: |done: &Replied| stored(done) });
    let author = can.caller.author();
    Ok(match desk.reply(by(&can, &author), &id, reply, once).await? {
        Outcome::Done(body) => {
            Created { collection: COLLECTION, id: body.message_id.to_string(), body }.into_response()
        }
        Outcome::Replayed(answer) => Replayed { answer, collection: COLLECTION }.into_response(),
    })
}
