//! Actions that ask something of the outside: the turn waits for the result.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An HTTP request, as its author wrote it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct HttpRequestAction {
    #[serde(default)]
    pub method: HttpMethod,
    /// The address, interpolated. Values are percent-encoded, except static variables, which are the
    /// author's own.
    pub url: String,
    /// The headers; values are interpolated.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// The body: a text is sent as it is, anything else as JSON. Texts in it are interpolated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Value>,
    /// How long to wait for the whole answer, in milliseconds.
    #[serde(default = "ten_seconds")]
    pub timeout_ms: u64,
    /// The parts of the answer's body to keep.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub response: Vec<ResponseField>,
    /// The session variable that takes the status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_variable: Option<String>,
    /// The session variable that takes the code of a failure, and an empty text otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_variable: Option<String>,
}

fn ten_seconds() -> u64 {
    10_000
}

/// A method of HTTP.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum HttpMethod {
    /// Reads.
    #[default]
    Get,
    /// Creates, or does something.
    Post,
    /// Replaces.
    Put,
    /// Changes.
    Patch,
    /// Removes.
    Delete,
}

impl HttpMethod {
    /// Returns the name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }

    /// Returns whether a request that may have been made can be made again.
    pub const fn is_repeatable(self) -> bool {
        matches!(self, Self::Get)
    }
}

/// A part of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResponseField {
    /// A dotted path into the JSON, for example `items.0.id`; empty is all of it.
    #[serde(default)]
    pub path: String,
    /// The session variable that takes it; null when the answer has no such part.
    pub variable: String,
}

/// Longest script, in bytes.
pub(in crate::flow) const MAX_SCRIPT: usize = 64 * 1024;

/// A script, as its author wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExecuteScriptAction {
    /// JavaScript. Its result is that of its `return`, or else of its last expression; a function is called. It sees
    /// `variables`, `contact`, `input` and `now`, which are copies.
    pub script: String,
    /// The session variable that takes the result. Without it the result is an object whose fields become
    /// session variables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variable: Option<String>,
    /// The session variable that takes the code of a failure, and an empty text otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_variable: Option<String>,
}

impl ExecuteScriptAction {
    /// Returns whether there is a script, and no more than [`MAX_SCRIPT`] bytes of it.
    pub(in crate::flow) fn has_length(&self) -> bool {
        !self.script.trim().is_empty() && self.script.len() <= MAX_SCRIPT
    }
}
