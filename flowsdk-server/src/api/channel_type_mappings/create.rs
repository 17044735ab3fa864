//! `POST /channel-type-mappings`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use flowsdk_channels::type_mapping::{ChannelTypeMapping, NewChannelTypeMapping};
use flowsdk_core::idempotency::{Once, Outcome};

use super::COLLECTION;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::idempotency::{IdempotencyParams, Idempotent, Replayed, stored};
use crate::api::reply::Created;
use crate::api::state::ChannelTypeMappings;

/// Create a channel type mapping
///
/// The names that people and an outside system have for a channel of the router.
#[utoipa::path(
    post, path = "/channel-type-mappings", tag = "channel-type-mappings",
    params(IdempotencyParams),
    request_body = NewChannelTypeMapping,
    responses(
        (status = 201, description = "The mapping", body = ChannelTypeMapping),
        (status = 409, description = "`channel_type_taken`: the router has a mapping of this channel; `idempotency_conflict`"),
        (status = 422, description = "`router_unknown`"),
    )
)]
pub(super) async fn create_channel_type_mapping(
    can: Can<marks::ChannelNumbers, marks::Write>,
    State(mappings): State<Arc<ChannelTypeMappings>>,
    body: Idempotent<NewChannelTypeMapping>,
) -> Result<Response, ApiError> {
    let (new, request) = body.of(&can.caller);
    let once =
        request.map(|request| Once { request, answer: |mapping: &ChannelTypeMapping| stored(mapping) });
    Ok(match mappings.create(&can.caller.author(), can.admit(new)?, once).await? {
        Outcome::Done(body) => {
            Created { collection: COLLECTION, id: body.id.to_string(), body }.into_response()
        }
        Outcome::Replayed(answer) => Replayed { answer, collection: COLLECTION }.into_response(),
    })
}
