//! The recording.

use serde::{Deserialize, Serialize};

use crate::model::{Answer, Item, ModelRequest};

/// What a model was asked and answered, in order. It has no key and no address.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Recording {
    /// The exchanges.
    pub exchanges: Vec<Exchange>,
}

/// One request with its answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Exchange {
    /// What was asked.
    pub asked: Asked,
    /// What was answered.
    pub answer: Answer,
}

/// A request, as far as it tells one from another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Asked {
    /// The provider's name of the model.
    pub model: String,
    /// What the model had to keep to.
    pub instructions: String,
    /// The conversation.
    pub items: Vec<Item>,
    /// The names of its tools.
    #[serde(default)]
    pub tools: Vec<String>,
    /// Most tokens of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<u32>,
}

impl Asked {
    /// Returns a request in this form.
    pub fn of(request: &ModelRequest<'_>) -> Self {
        Self {
            model: request.model.to_owned(),
            instructions: request.instructions.to_owned(),
            items: request.items.to_vec(),
            tools: request.tools.iter().map(|tool| tool.name.clone()).collect(),
            max_output_tokens: request.max_output_tokens,
        }
    }

    /// Returns the last input of the conversation, to name the request by.
    pub fn last_input(&self) -> &str {
        let inputs = self.items.iter().rev().find_map(|item| match item {
            Item::User { text, .. } => Some(text.as_str()),
            _ => None,
        });
        inputs.unwrap_or_default()
    }
}
