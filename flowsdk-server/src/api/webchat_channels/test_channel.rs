//! `GET /routers/{id}/webchat/test`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::RouterId;

use super::shown::ShownView;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::WebchatChannels;

/// Show the test channel that a router has of its own
///
/// It is made if there is none. Further test channels are made as other channels are, with `isTestChannel`.
#[utoipa::path(
    get, path = "/routers/{id}/webchat/test", tag = "webchat",
    params(("id" = RouterId, Path, description = "The router")),
    responses((status = 200, description = "The test channel", body = ShownView))
)]
pub(super) async fn get_test_channel(
    can: Can<marks::ChannelNumbers, marks::Read>,
    State(channels): State<Arc<WebchatChannels>>,
    PathId(id): PathId<RouterId>,
) -> Result<Reply<ShownView>, ApiError> {
    let id = can.admit(id)?;
    Ok(Reply((&channels.test_channel(&can.caller.author(), &id).await?).into()))
}
