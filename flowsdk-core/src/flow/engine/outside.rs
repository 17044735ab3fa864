//! What a turn asks of the outside, and what comes back.

use std::fmt;
use std::time::Duration;

use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::flow::definition::HttpMethod;
use crate::time::Timestamp;

/// What an action asks of the outside. It is made anew from the definition when it is repeated and is never
/// stored.
#[derive(Debug, Clone, PartialEq)]
pub struct EffectRequest {
    /// Its number; the result names it.
    pub seq: i64,
    /// When its result counts as lost.
    pub deadline: Timestamp,
    /// What is asked.
    pub call: OutsideCall,
}

/// What is asked of the outside.
#[derive(Debug, Clone, PartialEq)]
pub enum OutsideCall {
    /// An HTTP request.
    Http(HttpRequest),
    /// A script.
    Script(ScriptRequest),
}

/// An HTTP request with every value in its place. Address, headers and body may hold secrets: `Debug` shows
/// none of them.
#[derive(Clone)]
pub struct HttpRequest {
    /// The method.
    pub method: HttpMethod,
    /// The address.
    pub url: SecretString,
    /// The headers.
    pub headers: Vec<(String, SecretString)>,
    /// The body.
    pub body: Option<SecretString>,
    /// Whether the body is JSON.
    pub is_json: bool,
    /// How long to wait for the whole answer.
    pub timeout: Duration,
    /// Dotted paths of what is wanted of the answer's body; an empty one is all of it.
    pub paths: Vec<String>,
}

impl fmt::Debug for HttpRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpRequest")
            .field("method", &self.method)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

impl PartialEq for HttpRequest {
    fn eq(&self, other: &Self) -> bool {
        let headers = |request: &Self| -> Vec<(String, String)> {
            request
                .headers
                .iter()
                .map(|(name, value)| (name.clone(), value.expose_secret().to_owned()))
                .collect()
        };
        let body = |request: &Self| request.body.as_ref().map(|body| body.expose_secret().to_owned());
        self.method == other.method
            && self.url.expose_secret() == other.url.expose_secret()
            && headers(self) == headers(other)
            && body(self) == body(other)
            && (self.is_json, self.timeout, &self.paths) == (other.is_json, other.timeout, &other.paths)
    }
}

/// A script and what it sees.
#[derive(Debug, Clone, PartialEq)]
pub struct ScriptRequest {
    /// The source.
    pub script: String,
    /// What it sees: `variables`, `contact`, `input` and `now` (milliseconds).
    pub scope: Value,
    /// What `Math.random` begins with, so that a repetition gives the same.
    pub seed: u64,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum EffectResult {
    /// An answer with a status of success.
    Http {
        /// The status.
        status: u16,
        /// What stands at the paths, in their order; null where nothing does.
        values: Vec<Value>,
    },
    /// The result of a script.
    Script {
        /// The result.
        value: Value,
    },
    /// It failed.
    Failed {
        /// Stable code: `http_status`, `http_timeout`, `http_unreachable`, `http_forbidden`,
        /// `http_too_large`, `http_bad_request`, `script_error`, `script_timeout`, `script_too_large` or
        /// `unknown_outcome`.
        code: String,
        /// What an operator reads; without secrets.
        message: String,
        /// The status of the answer, if there was one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<u16>,
    },
}

impl EffectResult {
    /// Whether it failed.
    pub const fn is_failure(&self) -> bool {
        matches!(self, Self::Failed { .. })
    }

    /// A failure without an answer.
    pub fn failed(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Failed { code: code.into(), message: message.into(), status: None }
    }
}
