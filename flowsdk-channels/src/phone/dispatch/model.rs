//! What is dispatched.

use flowsdk_core::id::{BlockId, ChannelNumberId, FlowId, MessageId, QueueId, TemplateId, UserId};
use flowsdk_core::schema::SchemaAttributes;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::channel_number::E164;

/// A template to a contact.
#[derive(Debug, Clone, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = DispatchTemplate)]
pub struct NewDispatch {
    /// The number that writes. It is active, and of the router.
    pub channel_number_id: ChannelNumberId,
    /// The number of the contact with country code.
    pub phone_number: E164,
    /// An approved template of the router, of the business account of the number.
    pub template_id: TemplateId,
    /// The values of `{{1}}`, `{{2}}` … of the body.
    #[serde(default)]
    #[schema(required = false, max_items = 100)]
    pub variables: Vec<String>,
    /// The values of header and buttons, in the provider's shape: `{ "type": "header" | "button", ... }`. An addition to the
    /// contract.
    #[serde(default)]
    #[schema(required = false, max_items = 11)]
    pub components: Vec<Value>,
    /// Writes whatever the contact has said of being written to. Administrators only.
    #[serde(default)]
    #[schema(required = false)]
    pub disable_opt_in: bool,
    /// The flow that a reply begins.
    #[schema(required = false)]
    pub target_flow_id: Option<FlowId>,
    /// The block of it that a reply begins with; needs `targetFlowId`.
    #[schema(required = false)]
    pub target_block_id: Option<BlockId>,
    /// The active queue of the router that a reply goes to. It goes before `targetFlowId`.
    #[schema(required = false)]
    pub target_queue_id: Option<QueueId>,
    /// The agent that a reply goes to; needs `targetQueueId`.
    #[schema(required = false)]
    pub target_user_id: Option<UserId>,
}

/// The answer to a dispatch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Dispatched {
    /// The message: `GET /messages/{id}` says how far it came.
    pub message_id: MessageId,
}
