//! `POST /webchat/channels`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use flowsdk_channels::webchat::WebchatChannel;
use flowsdk_channels::webchat::channels::NewWebchatChannel;
use flowsdk_core::id::{FlowId, RouterId};
use flowsdk_core::idempotency::{Once, Outcome};
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::{COLLECTION, Origin, WebchatChannelView};
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::idempotency::{IdempotencyParams, Idempotent, Replayed, stored};
use crate::api::reply::Created;
use crate::api::state::WebchatChannels;

/// A channel to be.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct CreateWebchatChannel {
    router_id: RouterId,
    #[schema(min_length = 1, max_length = 200, pattern = r"\S", example = "Loja")]
    name: String,
    /// Colours, avatar, texts; passed to the page as it is.
    #[schema(value_type = Option<Object>)]
    appearance: Option<Value>,
    /// Overrides the router's initial flow; null inherits it.
    initial_flow_id: Option<FlowId>,
    /// Origins that may open a socket; null means any.
    #[schema(value_type = Option<Vec<Origin>>, max_items = 100)]
    allowed_origins: Option<Vec<String>>,
}

/// Create a channel of the web chat
///
/// Open to anybody until it gets an embed secret.
#[utoipa::path(
    post, path = "/webchat/channels", tag = "webchat",
    params(IdempotencyParams),
    request_body = CreateWebchatChannel,
    responses(
        (status = 201, description = "The channel", body = WebchatChannelView),
        (status = 409, description = "`idempotency_conflict`"),
        (status = 422, description = "`router_unknown`, `flow_unknown` or `flow_is_tool`"),
    )
)]
pub(super) async fn create_webchat_channel(
    can: Can<marks::ChannelNumbers, marks::Write>,
    State(channels): State<Arc<WebchatChannels>>,
    body: Idempotent<CreateWebchatChannel>,
) -> Result<Response, ApiError> {
    let (body, request) = body.of(&can.caller);
    let once = request.map(|request| Once {
        request,
        answer: |channel: &WebchatChannel| stored(&WebchatChannelView::from(channel.clone())),
    });
    let CreateWebchatChannel { router_id, name, appearance, initial_flow_id, allowed_origins } = body;
    let new =
        can.admit(NewWebchatChannel { router_id, name, appearance, initial_flow_id, allowed_origins })?;
    Ok(match channels.create(&can.caller.author(), new, once).await? {
        Outcome::Done(channel) => {
            let body = WebchatChannelView::from(channel);
            Created { collection: COLLECTION, id: body.id.to_string(), body }.into_response()
        }
        Outcome::Replayed(answer) => Replayed { answer, collection: COLLECTION }.into_response(),
    })
}
