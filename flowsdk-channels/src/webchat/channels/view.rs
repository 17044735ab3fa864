//! The public form of a channel.

use flowsdk_core::change::View;
use flowsdk_core::chat::{Attachments, StartOn};
use flowsdk_core::id::{ChannelId, FlowId, RouterId};
use flowsdk_core::router::FallbackTexts;
use flowsdk_core::schema::SchemaAttributes;
use flowsdk_core::time::IsoTime;
use serde::Serialize;
use serde_json::Value;

use crate::webchat::WebchatChannel;

/// A channel of the web chat. Its embed secret is shown once, when it is made.
#[derive(Debug, Serialize, View, SchemaAttributes)]
#[view(of = WebchatChannel)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = WebchatChannel)]
pub struct WebchatChannelView {
    /// The id of the channel.
    pub id: ChannelId,
    router_id: RouterId,
    #[schema(example = "Shop")]
    name: String,
    /// Whether new sessions run test versions of flows.
    #[view(with = is_test_channel)]
    is_test_channel: bool,
    /// Colours, avatar, texts; passed to the page as it is.
    #[schema(value_type = Option<flowsdk_core::chat::Appearance>, required = true)]
    appearance: Option<Value>,
    /// Overrides the router's initial flow; null inherits it.
    #[schema(required = true)]
    initial_flow_id: Option<FlowId>,
    /// What begins a session: the visitor's first message, or that they enter a chat in which nobody has written.
    start_on: StartOn,
    /// What visitors receive where nothing else answers them, instead of the router's texts.
    fallback_texts: FallbackTexts,
    /// What visitors may send beside texts; null is nothing.
    #[schema(required = true)]
    attachments: Option<Attachments>,
    /// Whether only signed embed tokens get in.
    #[view(some = embed_secret)]
    has_embed_secret: bool,
    /// Origins that may open a socket; null means any.
    #[schema(value_type = Option<Vec<flowsdk_core::schema::Origin>>, required = true)]
    allowed_origins: Option<Vec<String>>,
    created_at: IsoTime,
}

fn is_test_channel(channel: &WebchatChannel) -> bool {
    channel.purpose.is_test()
}
