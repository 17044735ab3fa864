//! The file: one JSON document, with references by name and without secrets.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::chat::{Attachments, StartOn};
use crate::router::{FallbackTexts, PhoneOptions};
use crate::schema::SchemaAttributes;

/// The value of `format`.
pub const FORMAT: &str = "flowsdk";
/// The version of the format that this server writes and reads.
pub const FORMAT_VERSION: u32 = 1;

/// A router, or some of its flows, as one file: references by name, and no secrets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TransferFile {
    /// Always `flowsdk`.
    #[schema(pattern = "^flowsdk$", example = "flowsdk")]
    pub format: String,
    /// The version of the format.
    #[schema(minimum = 1, example = 1)]
    pub format_version: u32,
    /// The settings of the router; absent when only flows travel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    pub router: Option<TransferredRouter>,
    /// Variables of the router.
    #[serde(default)]
    #[schema(required = false, max_items = 10_000)]
    pub variables: Vec<TransferredVariable>,
    /// The flows of the router, or the chosen ones.
    #[serde(default)]
    #[schema(required = false, max_items = 10_000)]
    pub flows: Vec<TransferredFlow>,
    /// Channels of the router.
    #[serde(default)]
    #[schema(required = false, max_items = 1_000)]
    pub channels: Vec<TransferredChannel>,
}

/// The settings of a router. Secrets and ids that only its server knows stay there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TransferredRouter {
    /// The name of the router.
    #[schema(min_length = 1, max_length = 200, pattern = r"\S", example = "Support")]
    pub name: String,
    /// IANA time zone.
    #[schema(value_type = crate::router::TimeZoneName)]
    pub tz: String,
    /// The slug of its initial flow.
    #[serde(default)]
    #[schema(value_type = Option<crate::id::FlowId>)]
    pub initial_flow: Option<String>,
    /// Whether it had an app secret, which is to be filled in.
    #[serde(default)]
    #[schema(required = false)]
    pub has_channel_app_secret: bool,
    /// Whether it had a verify token, which is to be filled in.
    #[serde(default)]
    #[schema(required = false)]
    pub has_channel_verify_token: bool,
    /// Where the logo is.
    #[serde(default)]
    #[schema(value_type = Option<crate::schema::WebAddress>)]
    pub logo_url: Option<String>,
    /// How the sentiment of a chat is found.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    pub sentiment_config: Option<Value>,
    /// The settings of the copilot for the helpdesk's agents.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    pub copilot_config: Option<Value>,
    /// Whether a helpdesk agent's name stands before their messages.
    #[serde(default)]
    #[schema(required = false)]
    pub helpdesk_agent_prefix_enabled: bool,
    /// How it stands there.
    #[serde(default)]
    #[schema(max_length = 500)]
    pub helpdesk_agent_prefix_template: Option<String>,
    /// What contacts receive where nothing else answers them.
    #[serde(default)]
    #[schema(required = false)]
    pub fallback_texts: FallbackTexts,
    /// How its phone channel behaves.
    #[serde(default)]
    #[schema(required = false)]
    pub phone: PhoneOptions,
}

/// A static variable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TransferredVariable {
    /// The key by which flows name the variable.
    #[schema(value_type = crate::variable::VariableKey)]
    pub key: String,
    /// Its value; null of a secret, which is to be filled in.
    #[schema(required = true, max_length = 65_536)]
    pub value: Option<String>,
    /// Whether it is a secret.
    pub is_secret: bool,
}

/// A flow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TransferredFlow {
    /// The name by which the file refers to the flow; in definitions it stands for the flow's id.
    #[schema(value_type = crate::id::FlowId)]
    pub slug: String,
    /// The name that authors see.
    #[schema(min_length = 1, max_length = 200, pattern = r"\S", example = "Welcome")]
    pub name: String,
    /// `flow` or `tool`.
    #[schema(value_type = crate::flow::FlowKind)]
    pub kind: String,
    /// The draft, as JSON.
    #[schema(value_type = Object)]
    pub draft: Value,
    /// The published definition. It is published where it arrives.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    pub published: Option<Value>,
    /// The variables of the flow.
    #[serde(default)]
    #[schema(required = false, max_items = 10_000)]
    pub variables: Vec<TransferredVariable>,
}

/// A channel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TransferredChannel {
    /// Always `webchat` in this version.
    #[serde(rename = "type")]
    #[schema(pattern = "^webchat$", example = "webchat")]
    pub kind: String,
    /// The name of the channel.
    #[schema(min_length = 1, max_length = 200, pattern = r"\S", example = "Shop")]
    pub name: String,
    /// Colours, avatar and texts of the page.
    #[serde(default)]
    #[schema(value_type = Option<crate::chat::Appearance>)]
    pub appearance: Option<Value>,
    /// Origins that may open a socket; null means any.
    #[serde(default)]
    #[schema(max_items = 100)]
    pub allowed_origins: Option<Vec<String>>,
    /// The slug of the flow that it begins with instead of the router's.
    #[serde(default)]
    #[schema(value_type = Option<crate::id::FlowId>)]
    pub initial_flow: Option<String>,
    /// What begins a session: the visitor's first message, or that they enter a chat in which nobody has written.
    #[serde(default)]
    #[schema(required = false)]
    pub start_on: StartOn,
    /// What contacts receive where nothing else answers them, instead of the router's texts.
    #[serde(default)]
    #[schema(required = false)]
    pub fallback_texts: FallbackTexts,
    /// What visitors may send beside texts.
    #[serde(default)]
    #[schema(required = false)]
    pub attachments: Option<Attachments>,
    /// Whether it had an embed secret. It gets another one, which nobody knows yet.
    #[serde(default)]
    #[schema(required = false)]
    pub is_closed: bool,
}
