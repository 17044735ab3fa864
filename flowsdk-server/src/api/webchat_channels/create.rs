//! `POST /webchat/channels`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use flowsdk_channels::webchat::channels::{NewWebchatChannel, ShownChannel};
use flowsdk_core::idempotency::{Once, Outcome};

use super::COLLECTION;
use super::shown::ShownView;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::idempotency::{IdempotencyParams, Idempotent, Replayed, stored};
use crate::api::reply::Created;
use crate::api::state::WebchatChannels;

/// Create a channel of the web chat
///
/// Open to anybody until it gets an embed secret.
#[utoipa::path(
    post, path = "/webchat/channels", tag = "webchat",
    params(IdempotencyParams),
    request_body = NewWebchatChannel,
    responses(
        (status = 201, description = "The channel", body = ShownView),
        (status = 409, description = "`idempotency_conflict`"),
        (status = 422, description = "`router_unknown`, `flow_unknown` or `flow_is_tool`"),
    )
)]
pub(super) async fn create_webchat_channel(
    can: Can<marks::ChannelNumbers, marks::Write>,
    State(channels): State<Arc<WebchatChannels>>,
    body: Idempotent<NewWebchatChannel>,
) -> Result<Response, ApiError> {
    let (new, request) = body.of(&can.caller);
    let once = request
        .map(|request| Once { request, answer: |shown: &ShownChannel| stored(&ShownView::from(shown)) });
    Ok(match channels.create(&can.caller.author(), can.admit(new)?, once).await? {
        Outcome::Done(shown) => {
            let id = shown.channel.id.to_string();
            Created { collection: COLLECTION, id, body: ShownView::from(&shown) }.into_response()
        }
        Outcome::Replayed(answer) => Replayed { answer, collection: COLLECTION }.into_response(),
    })
}
