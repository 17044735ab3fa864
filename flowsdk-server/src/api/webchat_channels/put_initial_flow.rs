//! `PUT /webchat/channels/{id}/initial-flow`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::{ChannelId, FlowId};
use serde::Deserialize;
use utoipa::ToSchema;

use super::shown::ShownView;
use crate::api::body::Body;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::WebchatChannels;

/// The flow that sessions of a channel begin with.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct PutInitialFlow {
    /// A flow of the channel's router; null inherits the router's.
    #[schema(required = true)]
    flow_id: Option<FlowId>,
}

/// Choose the flow that a channel of the web chat begins with
#[utoipa::path(
    put, path = "/webchat/channels/{id}/initial-flow", tag = "webchat",
    params(("id" = ChannelId, Path, description = "The channel")),
    request_body = PutInitialFlow,
    responses(
        (status = 200, description = "The channel", body = ShownView),
        (status = 422, description = "`flow_unknown`: the flow is none of the router's; `flow_is_tool`"),
    )
)]
pub(super) async fn put_initial_flow(
    can: Can<marks::ChannelNumbers, marks::Write>,
    State(channels): State<Arc<WebchatChannels>>,
    PathId(id): PathId<ChannelId>,
    Body(body): Body<PutInitialFlow>,
) -> Result<Reply<ShownView>, ApiError> {
    let (author, reach) = (can.caller.author(), can.reach());
    Ok(Reply((&channels.set_initial_flow(&author, reach, &id, body.flow_id).await?).into()))
}
