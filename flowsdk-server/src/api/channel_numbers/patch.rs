//! `PATCH /channel-numbers/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_channels::channel_number::{ChannelNumberChange, E164, ProviderId};
use flowsdk_core::id::ChannelNumberId;
use secrecy::SecretString;
use serde::Deserialize;
use utoipa::ToSchema;

use super::ChannelNumberView;
use crate::api::body::{Body, present};
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::ChannelNumbers;

/// What is to change of a number; an absent field stays.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct PatchChannelNumber {
    #[schema(value_type = String, required = false, min_length = 1, max_length = 200, pattern = r"\S", example = "Loja")]
    name: Option<String>,
    #[schema(value_type = E164, required = false)]
    phone_number: Option<E164>,
    /// The provider's business account.
    #[schema(value_type = ProviderId, required = false)]
    business_account_id: Option<ProviderId>,
    /// What the provider wants to see with each request. Kept encrypted and never shown; null forgets it.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<String>, format = Password, min_length = 1, max_length = 4_096)]
    access_token: Option<Option<SecretString>>,
    /// Whether anything may be sent from it.
    #[schema(value_type = bool, required = false)]
    active: Option<bool>,
}

/// Change a number of the phone channel
///
/// Its router and its id at the provider stay: sessions are named after that id.
#[utoipa::path(
    patch, path = "/channel-numbers/{id}", tag = "channel-numbers",
    params(("id" = ChannelNumberId, Path, description = "The number")),
    request_body = PatchChannelNumber,
    responses((status = 200, description = "The number", body = ChannelNumberView))
)]
pub(super) async fn patch_channel_number(
    can: Can<marks::ChannelNumbers, marks::Write>,
    State(numbers): State<Arc<ChannelNumbers>>,
    PathId(id): PathId<ChannelNumberId>,
    Body(body): Body<PatchChannelNumber>,
) -> Result<Reply<ChannelNumberView>, ApiError> {
    let PatchChannelNumber { name, phone_number, business_account_id, access_token, active } = body;
    let change = ChannelNumberChange { name, phone_number, business_account_id, access_token, active };
    let (author, reach) = (can.caller.author(), can.reach());
    Ok(Reply(numbers.change(&author, reach, &id, change).await?.into()))
}
