//! A channel of the web chat as clients see it.

use flowsdk_channels::webchat::WebchatChannel;
use flowsdk_core::id::{ChannelId, FlowId, RouterId};
use flowsdk_core::time::IsoTime;
use serde::Serialize;
use serde_json::Value;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

/// The origin of a page, as browsers write it.
#[derive(Debug)]
pub(super) enum Origin {}

impl PartialSchema for Origin {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .pattern(Some(r"^https?://[^/\s]+$"))
            .max_length(Some(300))
            .examples(["https://loja.example.com"])
            .build()
            .into()
    }
}

impl ToSchema for Origin {}

/// A channel of the web chat. Its embed secret is shown once, when it is made.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WebchatChannel)]
pub(super) struct WebchatChannelView {
    pub(super) id: ChannelId,
    router_id: RouterId,
    #[schema(example = "Loja")]
    name: String,
    /// Whether new sessions run test versions of flows.
    is_test_channel: bool,
    /// Colours, avatar, texts; passed to the page as it is.
    #[schema(value_type = Option<Object>, required = true)]
    appearance: Option<Value>,
    /// Overrides the router's initial flow; null inherits it.
    #[schema(required = true)]
    initial_flow_id: Option<FlowId>,
    /// Whether only signed embed tokens get in.
    has_embed_secret: bool,
    /// Origins that may open a socket; null means any.
    #[schema(value_type = Option<Vec<Origin>>, required = true)]
    allowed_origins: Option<Vec<String>>,
    created_at: IsoTime,
}

impl From<WebchatChannel> for WebchatChannelView {
    fn from(channel: WebchatChannel) -> Self {
        Self {
            id: channel.id,
            router_id: channel.router_id,
            name: channel.name,
            is_test_channel: channel.is_test_channel,
            appearance: channel.appearance,
            initial_flow_id: channel.initial_flow_id,
            has_embed_secret: channel.embed_secret.is_some(),
            allowed_origins: channel.allowed_origins,
            created_at: channel.created_at.into(),
        }
    }
}
