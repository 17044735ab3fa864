//! The schema of the file; the types themselves are the domain's.

use flowsdk_core::flow::FlowKind;
use flowsdk_core::id::FlowId;
use flowsdk_core::schema::TimeZoneName;
use flowsdk_core::schema::WebAddress;
use flowsdk_core::transfer::TransferFile;
use flowsdk_core::variable::VariableKey;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::Schema;
use utoipa::{PartialSchema, ToSchema};

/// A router, or some of its flows, as one file: references by name, and no secrets.
#[derive(Debug, ToSchema)]
#[schema(as = TransferFile)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[allow(dead_code, reason = "the document is made of it")]
struct FileSchema {
    #[schema(pattern = "^flowsdk$", example = "flowsdk")]
    format: String,
    #[schema(minimum = 1, example = 1)]
    format_version: u32,
    /// The settings of the router; absent when only flows travel.
    #[schema(required = false)]
    router: Option<RouterSchema>,
    /// Variables of the router.
    #[schema(required = false, max_items = 10_000)]
    variables: Vec<VariableSchema>,
    #[schema(required = false, max_items = 10_000)]
    flows: Vec<FlowSchema>,
    /// Channels of the router.
    #[schema(required = false, max_items = 1_000)]
    channels: Vec<ChannelSchema>,
}

/// The settings of a router.
#[derive(Debug, ToSchema)]
#[schema(as = TransferredRouter)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[allow(dead_code, reason = "the document is made of it")]
struct RouterSchema {
    #[schema(min_length = 1, max_length = 200, pattern = r"\S", example = "Atendimento")]
    name: String,
    #[schema(value_type = TimeZoneName)]
    tz: String,
    /// The slug of its initial flow.
    #[schema(value_type = Option<FlowId>)]
    initial_flow: Option<String>,
    /// Whether it had one, which is to be filled in.
    #[schema(required = false)]
    has_channel_app_secret: bool,
    /// Whether it had one, which is to be filled in.
    #[schema(required = false)]
    has_channel_verify_token: bool,
    #[schema(value_type = Option<WebAddress>)]
    logo_url: Option<String>,
    #[schema(value_type = Option<Object>)]
    sentiment_config: Option<Value>,
    #[schema(value_type = Option<Object>)]
    copilot_config: Option<Value>,
    #[schema(required = false)]
    helpdesk_agent_prefix_enabled: bool,
    #[schema(max_length = 500)]
    helpdesk_agent_prefix_template: Option<String>,
}

/// A static variable.
#[derive(Debug, ToSchema)]
#[schema(as = TransferredVariable)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[allow(dead_code, reason = "the document is made of it")]
struct VariableSchema {
    #[schema(value_type = VariableKey)]
    key: String,
    /// Null of a secret, which is to be filled in.
    #[schema(required = true, max_length = 65_536)]
    value: Option<String>,
    is_secret: bool,
}

/// A flow.
#[derive(Debug, ToSchema)]
#[schema(as = TransferredFlow)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[allow(dead_code, reason = "the document is made of it")]
struct FlowSchema {
    /// By what the file refers to it; in definitions it stands for the id of the flow.
    #[schema(value_type = FlowId)]
    slug: String,
    #[schema(min_length = 1, max_length = 200, pattern = r"\S", example = "Boas-vindas")]
    name: String,
    #[schema(value_type = FlowKind)]
    kind: String,
    #[schema(value_type = Object)]
    draft: Value,
    /// What was published; it is published where it arrives.
    #[schema(value_type = Option<Object>)]
    published: Option<Value>,
    #[schema(required = false, max_items = 10_000)]
    variables: Vec<VariableSchema>,
}

/// A channel.
#[derive(Debug, ToSchema)]
#[schema(as = TransferredChannel)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[allow(dead_code, reason = "the document is made of it")]
struct ChannelSchema {
    #[schema(rename = "type", pattern = "^webchat$", example = "webchat")]
    r#type: String,
    #[schema(min_length = 1, max_length = 200, pattern = r"\S", example = "Loja")]
    name: String,
    #[schema(value_type = Option<Object>)]
    appearance: Option<Value>,
    #[schema(max_items = 100)]
    allowed_origins: Option<Vec<String>>,
    /// The slug of the flow that it begins with instead of the router's.
    #[schema(value_type = Option<FlowId>)]
    initial_flow: Option<String>,
    /// Whether it had an embed secret. It gets another one, which nobody knows yet.
    #[schema(required = false)]
    is_closed: bool,
}

macro_rules! with_schema_of_file {
    ($($name:ident),*) => {$(
        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                FileSchema::schema()
            }
        }

        impl ToSchema for $name {
            fn name() -> std::borrow::Cow<'static, str> {
                FileSchema::name()
            }

            fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
                FileSchema::schemas(schemas);
            }
        }
    )*};
}

with_schema_of_file!(ImportFile, TransferFileView);

/// A file that comes.
#[derive(Debug)]
pub(super) struct ImportFile(pub(super) TransferFile);

impl<'de> Deserialize<'de> for ImportFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        TransferFile::deserialize(deserializer).map(Self)
    }
}

/// A file that goes.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub(super) struct TransferFileView(pub(super) TransferFile);
