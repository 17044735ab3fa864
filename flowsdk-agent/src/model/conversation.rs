//! The conversation with a model.

use flowsdk_core::schema::SchemaAttributes;
use serde::{Deserialize, Serialize};

/// An item of a conversation with a model, in the form in which transcripts are stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, SchemaAttributes)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = AiAgentTurnItem)]
pub enum Item {
    /// Input: what the contact wrote, or what the executor tells the model.
    User {
        /// The text.
        text: String,
        /// The addresses of images, for a model with vision: `https:` or `data:`. Those of contacts are stored as `media:` with
        /// the id of the file.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<String>,
    },
    /// A text of the model beside its calls. Contacts never see it: they are written to by tools.
    Assistant {
        /// The text.
        text: String,
    },
    /// A call of a tool.
    ToolCall(ToolCall),
    /// The one result of a call.
    ToolResult {
        /// The id of the call.
        call_id: String,
        /// The result, for the model.
        output: String,
    },
}

impl Item {
    /// Returns an input without images.
    pub fn user(text: impl Into<String>) -> Self {
        Self::User { text: text.into(), images: Vec::new() }
    }

    /// Returns the result of a call.
    pub fn result(call_id: impl Into<String>, output: impl Into<String>) -> Self {
        Self::ToolResult { call_id: call_id.into(), output: output.into() }
    }
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = AiAgentToolCall)]
pub struct ToolCall {
    /// The id by which its result is told apart, unique in the conversation.
    pub id: String,
    /// The name of the tool, as the model wrote it.
    pub name: String,
    /// The arguments as the model wrote them: JSON, unless it made a mistake or was cut off.
    pub arguments: String,
}
