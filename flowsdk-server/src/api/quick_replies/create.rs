//! `POST /quick-replies`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use flowsdk_core::idempotency::{Once, Outcome};
use flowsdk_helpdesk::quick_reply::{NewQuickReply, QuickReply};

use super::COLLECTION;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::idempotency::{IdempotencyParams, Idempotent, Replayed, stored};
use crate::api::reply::Created;
use crate::api::state::QuickReplies;

/// Create a quick reply
#[utoipa::path(
    post, path = "/quick-replies", tag = "quick-replies",
    params(IdempotencyParams),
    request_body = NewQuickReply,
    responses(
        (status = 201, description = "The quick reply", body = QuickReply),
        (status = 409, description = "`shortcut_taken`: the router has one with this shortcut; `idempotency_conflict`"),
        (status = 422, description = "`queue_unknown`, `router_unknown`"),
    )
)]
pub(super) async fn create_quick_reply(
    can: Can<marks::Helpdesk, marks::Write>,
    State(replies): State<Arc<QuickReplies>>,
    body: Idempotent<NewQuickReply>,
) -> Result<Response, ApiError> {
    let (new, request) = body.of(&can.caller);
    let once = request.map(|request| Once { request, answer: |made: &QuickReply| stored(made) });
    Ok(match replies.create(&can.caller.author(), can.admit(new)?, once).await? {
        Outcome::Done(body) => {
            Created { collection: COLLECTION, id: body.id.to_string(), body }.into_response()
        }
        Outcome::Replayed(answer) => Replayed { answer, collection: COLLECTION }.into_response(),
    })
}
