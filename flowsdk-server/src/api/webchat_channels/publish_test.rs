//! `POST /flows/{id}/publish-test`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_channels::webchat::channels::{PublishedTest, WebchatChannelView};
use flowsdk_core::id::{FlowId, FlowVersionId};
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::heavy::HeavyTurn;
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::WebchatChannels;

/// A flow that can be tested.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PublishedTest)]
pub(super) struct PublishedTestView {
    flow_id: FlowId,
    version_id: FlowVersionId,
    /// Of the draft that the test version was made of.
    revision: i64,
    /// Where it is tested.
    channel: WebchatChannelView,
}

impl From<PublishedTest> for PublishedTestView {
    fn from(test: PublishedTest) -> Self {
        let PublishedTest { flow_id, version_id, revision, channel } = test;
        Self { flow_id, version_id, revision, channel: channel.into() }
    }
}

/// Publish a test version of a flow
///
/// Makes the draft the version that new sessions of the router's test channel run, until the next publication, and
/// lets that channel begin with this flow. The channel is made if there is none. Other channels see nothing of it.
#[utoipa::path(
    post, path = "/flows/{id}/publish-test", tag = "webchat",
    params(("id" = FlowId, Path, description = "The flow")),
    responses(
        (status = 200, description = "The version under test, and its channel", body = PublishedTestView),
        (status = 409, description = "`stale_revision`: the draft is being written all the time"),
        (status = 422, description = "`flow_invalid` or `flow_is_tool`"),
    )
)]
pub(super) async fn publish_test(
    can: Can<marks::Flows, marks::Write>,
    _turn: HeavyTurn,
    State(channels): State<Arc<WebchatChannels>>,
    PathId(id): PathId<FlowId>,
) -> Result<Reply<PublishedTestView>, ApiError> {
    Ok(Reply(channels.publish_test(&can.caller.author(), can.reach(), &id).await?.into()))
}
