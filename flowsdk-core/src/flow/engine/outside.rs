//! The requests of a turn to the outside, and their results.

use std::fmt;
use std::time::Duration;

use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::trace::of_text;
use crate::flow::definition::HttpMethod;
use crate::id::RouterId;
use crate::time::Timestamp;

/// The outside request of an action. A repetition builds it anew from the definition; it is never stored.
#[derive(Debug, Clone, PartialEq)]
pub struct EffectRequest {
    /// Its number; the result names it.
    pub seq: i64,
    /// The router that asks: routers share what performs requests in turns (rulings S19).
    pub router_id: RouterId,
    /// When its result counts as lost.
    pub deadline: Timestamp,
    /// The call to perform.
    pub call: OutsideCall,
}

/// A call to the outside.
#[derive(Debug, Clone, PartialEq)]
pub enum OutsideCall {
    /// A request to a server.
    Http(HttpRequest),
    /// A script in a sandbox.
    Script(ScriptRequest),
}

impl OutsideCall {
    /// Returns method and server of a request: more of its address may be secret.
    pub(super) fn target(&self) -> Option<String> {
        let Self::Http(request) = self else { return None };
        let address = request.url.expose_secret();
        let (scheme, rest) = address.split_once("://")?;
        let host = rest.split(['/', '?', '#', '\\']).next().unwrap_or("");
        // Before it may stand a password.
        let host = host.rsplit('@').next().unwrap_or("");
        Some(of_text(&format!("{} {scheme}://{host}", request.method.name())))
    }
}

/// An HTTP request with every value in its place. Address, headers and body may hold secrets: `Debug` shows
/// none of them.
#[derive(Clone)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct HttpRequest {
    pub method: HttpMethod,
    /// The address, secret because static variables may stand in it.
    pub url: SecretString,
    /// The headers, by name.
    pub headers: Vec<(String, SecretString)>,
    /// The body, if the request has one.
    pub body: Option<SecretString>,
    /// Whether the body is JSON.
    pub is_json: bool,
    /// Whether redirects are followed. One that is not is the answer.
    pub follows_redirects: bool,
    /// How long to wait for the whole answer.
    pub timeout: Duration,
    /// Dotted paths into the body of the response; an empty path is the whole body.
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
            && (self.is_json, self.follows_redirects) == (other.is_json, other.follows_redirects)
            && (self.timeout, &self.paths) == (other.timeout, &other.paths)
    }
}

/// A script and its scope.
#[derive(Debug, Clone, PartialEq)]
pub struct ScriptRequest {
    /// The source, in JavaScript.
    pub script: String,
    /// The scope: `variables`, `contact`, `input` and `now` (milliseconds).
    pub scope: Value,
    /// The seed of `Math.random`, so that a repetition returns the same.
    pub seed: u64,
}

/// The result of a call to the outside.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum EffectResult {
    /// An answer with a status of success.
    #[allow(missing_docs, reason = "the fields say it")]
    Http {
        status: u16,
        /// The values at the paths, in their order; null where there is none.
        values: Vec<Value>,
    },
    /// The result of a script.
    Script {
        /// The value that the script returned.
        value: Value,
    },
    /// The call failed, or its outcome is unknown.
    Failed {
        /// Stable code: `http_status`, `http_timeout`, `http_unreachable`, `http_forbidden`,
        /// `http_too_large`, `http_bad_request`, `script_error`, `script_timeout`, `script_too_large` or
        /// `unknown_outcome`.
        code: String,
        /// The message for operators; without secrets.
        message: String,
        /// The status of the answer, if there was one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<u16>,
    },
}

impl EffectResult {
    /// Returns whether the call failed.
    pub const fn is_failure(&self) -> bool {
        matches!(self, Self::Failed { .. })
    }

    /// Returns a failure without an answer.
    pub fn failed(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Failed { code: code.into(), message: message.into(), status: None }
    }
}
