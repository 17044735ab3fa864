//! `POST /channel-numbers/{id}/encryption/generate-keys`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_channels::channel_number::ChannelNumber;
use flowsdk_core::id::ChannelNumberId;
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::ChannelNumbers;

/// The public half of a number's keys.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = EncryptionPublicKey)]
pub(super) struct PublicKeyView {
    /// SPKI PEM, to be given to the provider.
    #[schema(required = true)]
    encryption_public_key: Option<String>,
    has_private_key: bool,
}

impl From<ChannelNumber> for PublicKeyView {
    fn from(number: ChannelNumber) -> Self {
        let has_private_key = number.keys.is_some();
        Self { encryption_public_key: number.keys.map(|keys| keys.public_key), has_private_key }
    }
}

/// Make the keys of a number's interactive forms
///
/// Makes an RSA pair of 2048 bits. A former pair is replaced, and data encrypted with it can no longer be read: the
/// provider needs the new public key.
#[utoipa::path(
    post, path = "/channel-numbers/{id}/encryption/generate-keys", tag = "channel-numbers",
    params(("id" = ChannelNumberId, Path, description = "The number")),
    responses((status = 200, description = "The public key", body = PublicKeyView))
)]
pub(super) async fn generate_encryption_keys(
    can: Can<marks::ChannelNumbers, marks::Write>,
    State(numbers): State<Arc<ChannelNumbers>>,
    PathId(id): PathId<ChannelNumberId>,
) -> Result<Reply<PublicKeyView>, ApiError> {
    let (author, reach) = (can.caller.author(), can.reach());
    Ok(Reply(numbers.generate_keys(&author, reach, &id).await?.into()))
}
