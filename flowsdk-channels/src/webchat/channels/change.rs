//! The input for a new channel, and the changes to one.

use flowsdk_core::change::{Entity, EntityKind, Recorded};
use flowsdk_core::id::{FlowId, RouterId};
use flowsdk_core::router::{Reach, Reachable};
use serde_json::{Value, json};

use crate::webchat::WebchatChannel;

/// A channel to be.
#[derive(Debug, Clone)]
pub struct NewWebchatChannel {
    /// The router; the caller of the service checks that it is within reach.
    pub router_id: RouterId,
    /// The name, `channelName` in `auth_ok`.
    pub name: String,
    /// Colours, avatar, texts; passed to the page as it is.
    pub appearance: Option<Value>,
    /// Overrides the router's initial flow.
    pub initial_flow_id: Option<FlowId>,
    /// Origins that may open a socket; `None` means any.
    pub allowed_origins: Option<Vec<String>>,
}

impl Reachable for NewWebchatChannel {
    fn is_within(&self, reach: Reach<'_>) -> bool {
        self.router_id.is_within(reach)
    }
}

/// Changes to a channel. An absent field stays; `Some(None)` removes a value.
#[derive(Debug, Clone, Default)]
pub struct WebchatChannelChange {
    /// The name, `channelName` in `auth_ok`.
    pub name: Option<String>,
    /// Colours, avatar, texts; passed to the page as it is.
    pub appearance: Option<Option<Value>>,
    /// Origins that may open a socket; `None` means any.
    pub allowed_origins: Option<Option<Vec<String>>>,
}

impl WebchatChannelChange {
    /// The channel after the change.
    pub(super) fn apply(self, mut channel: WebchatChannel) -> WebchatChannel {
        channel.name = self.name.unwrap_or(channel.name);
        channel.appearance = self.appearance.unwrap_or(channel.appearance);
        channel.allowed_origins = self.allowed_origins.unwrap_or(channel.allowed_origins);
        channel
    }
}

impl Recorded for WebchatChannel {
    fn entity(&self) -> Entity<'_> {
        Entity { kind: EntityKind::WebchatChannel, id: self.id.as_str(), router_id: Some(&self.router_id) }
    }

    fn to_json(&self) -> Value {
        json!({
            "id": self.id, "routerId": self.router_id, "name": self.name,
            "isTestChannel": self.is_test_channel, "appearance": self.appearance,
            "initialFlowId": self.initial_flow_id, "hasEmbedSecret": self.embed_secret.is_some(),
            "allowedOrigins": self.allowed_origins, "createdAt": self.created_at.to_iso(),
        })
    }
}
