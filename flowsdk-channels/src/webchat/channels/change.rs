//! The input for a new channel, and the changes to one.

use flowsdk_core::change::{Entity, EntityKind, Recorded, public_json};
use flowsdk_core::chat::{Appearance, Attachments, StartOn};
use flowsdk_core::crypto::Encrypted;
use flowsdk_core::id::{FlowId, RouterId};
use flowsdk_core::page::{Cursor, Searched};
use flowsdk_core::patch::present;
use flowsdk_core::router::{FallbackTexts, Reach, Reachable};
use flowsdk_core::schema::SchemaAttributes;
use serde::Deserialize;
use serde_json::Value;
use std::borrow::Cow;

use super::WebchatChannelView;
use crate::webchat::WebchatChannel;

/// A new channel.
#[derive(Debug, Clone, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = CreateWebchatChannel)]
pub struct NewWebchatChannel {
    /// The router of the channel.
    pub router_id: RouterId,
    /// The name that visitors see, `channelName` in `auth_ok`.
    #[schema(min_length = 1, max_length = 200, pattern = r"\S", example = "Shop")]
    pub name: String,
    /// Whether new sessions run test versions of flows. It never changes.
    #[serde(default)]
    #[schema(required = false, default = false)]
    pub is_test_channel: bool,
    /// Colours, avatar, texts.
    pub appearance: Option<Appearance>,
    /// Overrides the router's initial flow; null inherits it.
    pub initial_flow_id: Option<FlowId>,
    /// What begins a session: the visitor's first message, or that they enter a chat in which nobody has written.
    #[serde(default)]
    #[schema(required = false)]
    pub start_on: StartOn,
    /// What visitors receive where nothing else answers them, instead of the router's texts.
    pub fallback_texts: Option<FallbackTexts>,
    /// What visitors may send beside texts; null is nothing.
    pub attachments: Option<Attachments>,
    /// Origins that may open a socket; null means any.
    #[schema(value_type = Option<Vec<flowsdk_core::schema::Origin>>, max_items = 100)]
    pub allowed_origins: Option<Vec<String>>,
}

impl Reachable for NewWebchatChannel {
    fn is_within(&self, reach: Reach<'_>) -> bool {
        self.router_id.is_within(reach)
    }
}

/// The changes to make to a channel; an absent field stays, and null removes a value.
#[derive(Debug, Clone, Default, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = PatchWebchatChannel)]
pub struct WebchatChannelChange {
    /// The name that visitors see, `channelName` in `auth_ok`.
    #[schema(value_type = String, required = false, min_length = 1, max_length = 200, pattern = r"\S", example = "Shop")]
    pub name: Option<String>,
    /// Colours, avatar, texts: all of them anew.
    #[serde(default, deserialize_with = "present")]
    pub appearance: Option<Option<Appearance>>,
    /// What begins a session: the visitor's first message, or that they enter a chat in which nobody has written.
    #[schema(value_type = StartOn, required = false)]
    pub start_on: Option<StartOn>,
    /// What visitors receive where nothing else answers them; null leaves it to the router.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<FallbackTexts>)]
    pub fallback_texts: Option<Option<FallbackTexts>>,
    /// What visitors may send beside texts; null is nothing.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<Attachments>)]
    pub attachments: Option<Option<Attachments>>,
    /// Overrides the router's initial flow; null inherits it.
    #[serde(default, deserialize_with = "present")]
    pub initial_flow_id: Option<Option<FlowId>>,
    /// Origins that may open a socket; null means any.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<Vec<flowsdk_core::schema::Origin>>, max_items = 100)]
    pub allowed_origins: Option<Option<Vec<String>>>,
}

impl WebchatChannelChange {
    /// The channel after the change.
    pub(super) fn apply(self, mut channel: WebchatChannel) -> WebchatChannel {
        channel.name = self.name.unwrap_or(channel.name);
        if let Some(appearance) = self.appearance {
            channel.appearance = appearance.map(|appearance| appearance.to_json());
        }
        channel.initial_flow_id = self.initial_flow_id.unwrap_or(channel.initial_flow_id);
        channel.start_on = self.start_on.unwrap_or(channel.start_on);
        channel.fallback_texts =
            self.fallback_texts.map_or(channel.fallback_texts, Option::unwrap_or_default);
        channel.attachments = self.attachments.unwrap_or(channel.attachments);
        channel.allowed_origins = self.allowed_origins.unwrap_or(channel.allowed_origins);
        channel
    }
}

impl Searched for WebchatChannel {
    fn search_text(&self) -> Cow<'_, str> {
        (&self.name).into()
    }

    fn place(&self) -> Cursor {
        Cursor::of(self.created_at, &self.id)
    }
}

impl Recorded for WebchatChannel {
    fn entity(&self) -> Entity<'_> {
        Entity { kind: EntityKind::WebchatChannel, id: self.id.as_str(), router_id: Some(&self.router_id) }
    }

    fn to_json(&self) -> Value {
        public_json(&WebchatChannelView::from(self))
    }

    fn secrets(&self) -> Vec<(&'static str, Option<&str>)> {
        vec![("embedSecret", self.embed_secret.as_ref().map(Encrypted::as_stored))]
    }
}
