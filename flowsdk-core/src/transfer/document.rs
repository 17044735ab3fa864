//! The file: one JSON document, with references by name and without secrets.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The value of `format`.
pub const FORMAT: &str = "flowsdk";
/// The version of the format that this server writes and reads.
pub const FORMAT_VERSION: u32 = 1;

/// A router, or some of its flows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TransferFile {
    /// [`FORMAT`].
    pub format: String,
    /// [`FORMAT_VERSION`].
    pub format_version: u32,
    /// The settings of the router; absent when only flows travel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub router: Option<TransferredRouter>,
    /// Variables of the router.
    #[serde(default)]
    pub variables: Vec<TransferredVariable>,
    /// Flows.
    #[serde(default)]
    pub flows: Vec<TransferredFlow>,
    /// Channels of the router.
    #[serde(default)]
    pub channels: Vec<TransferredChannel>,
}

/// The settings of a router. Secrets, and ids that only its server knows, stay there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TransferredRouter {
    /// The name of the router.
    pub name: String,
    /// IANA time zone.
    pub tz: String,
    /// The [`TransferredFlow::slug`] of its initial flow.
    #[serde(default)]
    pub initial_flow: Option<String>,
    /// Whether it had an app secret, which is to be filled in.
    #[serde(default)]
    pub has_channel_app_secret: bool,
    /// Whether it had a verify token, which is to be filled in.
    #[serde(default)]
    pub has_channel_verify_token: bool,
    /// Where the logo is.
    #[serde(default)]
    pub logo_url: Option<String>,
    /// How the sentiment of a chat is told.
    #[serde(default)]
    pub sentiment_config: Option<Value>,
    /// The settings of the copilot for the helpdesk's agents.
    #[serde(default)]
    pub copilot_config: Option<Value>,
    /// Whether a helpdesk agent's name stands before their messages.
    #[serde(default)]
    pub helpdesk_agent_prefix_enabled: bool,
    /// How it stands there.
    #[serde(default)]
    pub helpdesk_agent_prefix_template: Option<String>,
}

/// A static variable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TransferredVariable {
    /// The key by which flows name the variable.
    pub key: String,
    /// Its value; null of a secret, which is to be filled in.
    pub value: Option<String>,
    /// Whether it is a secret.
    pub is_secret: bool,
}

/// A flow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TransferredFlow {
    /// The name by which the file refers to the flow; in definitions it stands for the flow's id.
    pub slug: String,
    /// The name that authors see.
    pub name: String,
    /// `flow` or `tool`.
    pub kind: String,
    /// The draft, as JSON.
    pub draft: Value,
    /// The published definition.
    #[serde(default)]
    pub published: Option<Value>,
    /// The variables of the flow.
    #[serde(default)]
    pub variables: Vec<TransferredVariable>,
}

/// A channel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TransferredChannel {
    /// `webchat`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The name of the channel.
    pub name: String,
    /// Colours, avatar, texts.
    #[serde(default)]
    pub appearance: Option<Value>,
    /// Origins that may open a socket; null means any.
    #[serde(default)]
    pub allowed_origins: Option<Vec<String>>,
    /// The [`TransferredFlow::slug`] of the flow that it begins with instead of the router's.
    #[serde(default)]
    pub initial_flow: Option<String>,
    /// Whether it had an embed secret. It gets another one, which nobody knows yet.
    #[serde(default)]
    pub is_closed: bool,
}
