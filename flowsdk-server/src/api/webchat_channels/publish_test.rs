//! `POST /flows/{id}/publish-test`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_channels::webchat::channels::{PublishedTest, WebchatChannelView};
use flowsdk_core::id::{ChannelId, FlowId, FlowVersionId};
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};

use crate::api::error::ApiError;
use crate::api::flows::problems::{self, ProblemView};
use crate::api::guard::{Can, marks};
use crate::api::heavy::HeavyTurn;
use crate::api::path::PathId;
use crate::api::query::{FromQuery, Query, QueryReader};
use crate::api::reply::Reply;
use crate::api::request;
use crate::api::state::WebchatChannels;

/// Where to test.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code, reason = "the document is made of it")]
struct PublishTestParams {
    /// A test channel of the flow's router; without it, the router's own.
    #[param(rename = "channelId")]
    channel: Option<ChannelId>,
}

/// The test channel that is to begin with the flow; `None` for the router's own.
#[derive(Debug)]
pub(super) struct InChannel(Option<ChannelId>);

impl FromQuery for InChannel {
    fn read(query: &mut QueryReader) -> Self {
        Self(query.id("channelId", ChannelId::parse))
    }
}

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
    /// Problems that do not prevent publishing; the first 1,000.
    #[schema(max_items = 1_000)]
    warnings: Vec<ProblemView>,
    /// How many more there are.
    warnings_left_out: usize,
}

impl From<PublishedTest> for PublishedTestView {
    fn from(test: PublishedTest) -> Self {
        let PublishedTest { flow_id, version_id, revision, channel, warnings } = test;
        let (_, language) = request::facts();
        let (warnings, warnings_left_out) = problems::first(warnings, language);
        Self { flow_id, version_id, revision, channel: channel.into(), warnings, warnings_left_out }
    }
}

/// Publish a test version of a flow
///
/// Makes the draft the version that new sessions of the router's test channels run, until the next publication, and
/// lets one of these channels begin with this flow. The router's own is made if there is none. Other channels see
/// nothing of it.
#[utoipa::path(
    post, path = "/flows/{id}/publish-test", tag = "webchat",
    params(("id" = FlowId, Path, description = "The flow"), PublishTestParams),
    responses(
        (status = 200, description = "The version under test, and its channel", body = PublishedTestView),
        (status = 409, description = "`stale_revision`: the draft is being written all the time"),
        (status = 422, description = "`flow_invalid`, `flow_is_tool` or `channel_unknown`"),
    )
)]
pub(super) async fn publish_test(
    can: Can<marks::Flows, marks::Write>,
    _turn: HeavyTurn,
    State(channels): State<Arc<WebchatChannels>>,
    PathId(id): PathId<FlowId>,
    Query(InChannel(channel)): Query<InChannel>,
) -> Result<Reply<PublishedTestView>, ApiError> {
    let author = can.caller.author();
    Ok(Reply(channels.publish_test(&author, can.reach(), &id, channel.as_ref()).await?.into()))
}
