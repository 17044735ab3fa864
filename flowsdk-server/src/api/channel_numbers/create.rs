//! `POST /channel-numbers`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use flowsdk_channels::channel_number::{ChannelNumber, E164, NewChannelNumber, ProviderId};
use flowsdk_core::id::RouterId;
use flowsdk_core::idempotency::{Once, Outcome};
use secrecy::SecretString;
use serde::Deserialize;
use utoipa::ToSchema;

use super::{COLLECTION, ChannelNumberView};
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::idempotency::{IdempotencyParams, Idempotent, Replayed, stored};
use crate::api::reply::Created;
use crate::api::state::ChannelNumbers;

/// A number to be.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct CreateChannelNumber {
    router_id: RouterId,
    #[schema(min_length = 1, max_length = 200, pattern = r"\S", example = "Loja")]
    name: String,
    /// The provider's id of it; it cannot be changed later.
    phone_number_id: ProviderId,
    phone_number: E164,
    /// The provider's business account.
    business_account_id: ProviderId,
    /// What the provider wants to see with each request. Kept encrypted and never shown.
    #[schema(value_type = Option<String>, format = Password, min_length = 1, max_length = 4_096)]
    access_token: Option<SecretString>,
    /// Whether anything may be sent from it.
    #[serde(default = "yes")]
    #[schema(required = false, default = true)]
    active: bool,
}

fn yes() -> bool {
    true
}

/// Create a number of the phone channel
#[utoipa::path(
    post, path = "/channel-numbers", tag = "channel-numbers",
    params(IdempotencyParams),
    request_body = CreateChannelNumber,
    responses(
        (status = 201, description = "The number", body = ChannelNumberView),
        (status = 409, description = "`phone_number_taken`: a number has this `phoneNumberId`; `idempotency_conflict`"),
        (status = 422, description = "`router_unknown`"),
    )
)]
pub(super) async fn create_channel_number(
    can: Can<marks::ChannelNumbers, marks::Write>,
    State(numbers): State<Arc<ChannelNumbers>>,
    body: Idempotent<CreateChannelNumber>,
) -> Result<Response, ApiError> {
    let (body, request) = body.of(&can.caller);
    let once = request.map(|request| Once {
        request,
        answer: |number: &ChannelNumber| stored(&ChannelNumberView::from(number.clone())),
    });
    let new = can.admit(NewChannelNumber {
        router_id: body.router_id,
        name: body.name,
        phone_number_id: body.phone_number_id,
        phone_number: body.phone_number,
        business_account_id: body.business_account_id,
        access_token: body.access_token,
        active: body.active,
    })?;
    Ok(match numbers.create(&can.caller.author(), new, once).await? {
        Outcome::Done(number) => {
            let body = ChannelNumberView::from(number);
            Created { collection: COLLECTION, id: body.id.to_string(), body }.into_response()
        }
        Outcome::Replayed(answer) => Replayed { answer, collection: COLLECTION }.into_response(),
    })
}
