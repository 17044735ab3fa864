//! `POST /channel-numbers/{id}/encryption/register`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::ChannelNumberId;

use super::generate_keys::PublicKeyView;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::FormKeyRegistration;

/// Give the provider the public key of a number's interactive forms
///
/// Until it has the key, forms that ask an endpoint cannot be opened. Again is as good as once.
#[utoipa::path(
    post, path = "/channel-numbers/{id}/encryption/register", tag = "channel-numbers",
    params(("id" = ChannelNumberId, Path, description = "The number")),
    responses(
        (status = 200, description = "The public key that the provider has now", body = PublicKeyView),
        (status = 404, description = "`not_found`; `keys_missing`: the number has no keys"),
        (status = 422, description = "`no_access_token`; `provider_refused`, with the code and words of the provider"),
        (status = 502, description = "`provider_unreachable`"),
        (status = 504, description = "`provider_unanswered`"),
    )
)]
pub(super) async fn register_encryption_key(
    can: Can<marks::ChannelNumbers, marks::Write>,
    State(keys): State<Arc<FormKeyRegistration>>,
    PathId(id): PathId<ChannelNumberId>,
) -> Result<Reply<PublicKeyView>, ApiError> {
    let number = keys.register(&can.caller.author(), can.reach(), &id).await?;
    Ok(Reply(number.into()))
}
