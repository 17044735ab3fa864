//! The port of model providers.

use std::fmt::Debug;

use async_trait::async_trait;
use flowsdk_core::event::TokenUsage;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Item, ModelError, ToolCall};

/// A provider of language models.
#[async_trait]
pub trait ModelProvider: Debug + Send + Sync {
    /// Asks a model once. Nothing is tried again here. Dropping the future ends the request.
    ///
    /// # Errors
    /// [`ModelError`].
    async fn answer(&self, request: ModelRequest<'_>) -> Result<Answer, ModelError>;
}

/// What a model is asked.
#[derive(Debug, Clone, Copy)]
pub struct ModelRequest<'a> {
    /// The provider's name of the model.
    pub model: &'a str,
    /// What the model has to keep to, whatever the conversation says.
    pub instructions: &'a str,
    /// The conversation from its beginning.
    pub items: &'a [Item],
    /// The part of it that the provider has already, if it keeps conversations.
    pub known: Option<Known<'a>>,
    /// The tools that it may call.
    pub tools: &'a [ToolDefinition],
    /// Most tokens of the answer, those of reasoning among them.
    pub max_output_tokens: Option<u32>,
}

impl<'a> ModelRequest<'a> {
    /// Returns the items that the provider does not have.
    pub fn new_items(&self) -> &'a [Item] {
        let known = self.known.map_or(0, |known| known.items);
        self.items.get(known..).unwrap_or_default()
    }
}

/// The beginning of a conversation that a provider keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known<'a> {
    /// The id of the response that ends it.
    pub response_id: &'a str,
    /// How many items it has.
    pub items: usize,
}

/// A tool, as a model is told of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolDefinition {
    /// The name by which it is called: letters, digits, `_` and `-`.
    pub name: String,
    /// What it does, and when it is to be called.
    pub description: String,
    /// The JSON Schema of its arguments, an object.
    pub parameters: Value,
}

/// What a model answered.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Answer {
    /// The provider's id of the response, by which it is asked to go on from there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_id: Option<String>,
    /// Texts and calls, in their order. No two calls have the same id.
    pub items: Vec<Item>,
    /// Why it is not whole; a call at its end may be cut off, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<Cut>,
    /// The tokens that it used; zero where the provider does not say.
    #[serde(default)]
    pub usage: TokenUsage,
    /// Items of kinds that are not known here, such as reasoning. They are kept for whoever looks at the turn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other: Vec<Value>,
}

impl Answer {
    /// Returns its calls, in their order.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.items.iter().filter_map(|item| match item {
            Item::ToolCall(call) => Some(call),
            _ => None,
        })
    }

    /// Returns its texts, one a line.
    pub fn text(&self) -> String {
        let texts = self.items.iter().filter_map(|item| match item {
            Item::Assistant { text } => Some(text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }
}

/// Why an answer ends before its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Cut {
    /// It reached the limit of tokens.
    TooLong,
    /// The provider's filter stopped it.
    Filtered,
}
