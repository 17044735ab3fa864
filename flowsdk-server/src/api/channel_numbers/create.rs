//! `POST /channel-numbers`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use flowsdk_channels::channel_number::{ChannelNumber, ChannelNumberView, NewChannelNumber};
use flowsdk_core::idempotency::{Once, Outcome};

use super::COLLECTION;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::idempotency::{IdempotencyParams, Idempotent, Replayed, stored};
use crate::api::reply::Created;
use crate::api::state::ChannelNumbers;

/// Create a number of the phone channel
#[utoipa::path(
    post, path = "/channel-numbers", tag = "channel-numbers",
    params(IdempotencyParams),
    request_body = NewChannelNumber,
    responses(
        (status = 201, description = "The number", body = ChannelNumberView),
        (status = 409, description = "`phone_number_taken`: a number has this `phoneNumberId`; `idempotency_conflict`"),
        (status = 422, description = "`router_unknown`"),
    )
)]
pub(super) async fn create_channel_number(
    can: Can<marks::ChannelNumbers, marks::Write>,
    State(numbers): State<Arc<ChannelNumbers>>,
    body: Idempotent<NewChannelNumber>,
) -> Result<Response, ApiError> {
    let (new, request) = body.of(&can.caller);
    let once = request.map(|request| Once {
        request,
        answer: |number: &ChannelNumber| stored(&ChannelNumberView::from(number)),
    });
    Ok(match numbers.create(&can.caller.author(), can.admit(new)?, once).await? {
        Outcome::Done(number) => {
            let body = ChannelNumberView::from(number);
            Created { collection: COLLECTION, id: body.id.to_string(), body }.into_response()
        }
        Outcome::Replayed(answer) => Replayed { answer, collection: COLLECTION }.into_response(),
    })
}
