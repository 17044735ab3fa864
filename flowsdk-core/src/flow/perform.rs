//! Performing the outside requests of a turn: the ports, and the part common to every adapter.

use std::fmt;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::engine::{EffectResult, HttpRequest, OutsideCall, ScriptRequest};

/// Most bytes of an answer that an adapter may give.
pub const MAX_ANSWER: usize = 1024 * 1024;

/// Why something could not be performed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct OutsideFailure {
    /// Stable code, as in [`EffectResult::Failed`].
    pub code: &'static str,
    /// The message for operators; without secrets.
    pub message: String,
}

impl OutsideFailure {
    /// Creates a failure with a stable code.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

/// An answer to a request.
#[derive(Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct HttpAnswer {
    pub status: u16,
    /// Its `Content-Type`, if it has one that is text.
    pub content_type: Option<String>,
    /// Its body, at most [`MAX_ANSWER`] bytes.
    pub body: Vec<u8>,
}

impl fmt::Debug for HttpAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpAnswer").field("status", &self.status).field("bytes", &self.body.len()).finish()
    }
}

/// Makes HTTP requests of flows. An adapter reaches public servers only, and those that its operator names:
/// it looks at the address that it really connects to, also after a redirect.
#[async_trait]
pub trait HttpCaller: Send + Sync + fmt::Debug {
    /// Makes a request, within its time. Any status is an answer.
    async fn call(&self, request: &HttpRequest) -> Result<HttpAnswer, OutsideFailure>;
}

/// Runs scripts of flows. An adapter gives a script nothing but its scope, and bounds its time, memory and
/// result.
#[async_trait]
pub trait ScriptRunner: Send + Sync + fmt::Debug {
    /// Runs a script; returns its result.
    async fn run(&self, request: &ScriptRequest) -> Result<Value, OutsideFailure>;

    /// Parses scripts without running them; returns the first fault of each that is not JavaScript. A runner that
    /// cannot parse finds none.
    async fn check(&self, _scripts: &[&str]) -> Result<Vec<ScriptFault>, OutsideFailure> {
        Ok(Vec::new())
    }

    /// Number of scripts that it runs at once. More wait outside of it, where routers take turns.
    fn at_once(&self) -> usize {
        2
    }
}

/// Why a script is not JavaScript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptFault {
    /// The index of the script among those that were checked.
    pub script: usize,
    /// The place of the fault; `None` when it has none.
    pub at: Option<ScriptPosition>,
    /// The words of the parser.
    pub message: String,
}

/// A place in a script, both counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct ScriptPosition {
    pub line: usize,
    pub column: usize,
}

impl fmt::Display for ScriptPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// Performs `call`, and returns the result with which the turn goes on.
pub async fn perform(call: &OutsideCall, http: &dyn HttpCaller, scripts: &dyn ScriptRunner) -> EffectResult {
    let done = match call {
        OutsideCall::Http(request) => http.call(request).await.map(|answer| read(request, &answer)),
        OutsideCall::Script(request) => {
            scripts.run(request).await.map(|value| EffectResult::Script { value })
        }
    };
    done.unwrap_or_else(|failure| EffectResult::failed(failure.code, failure.message))
}

/// Returns the part of an answer that is kept.
pub(crate) fn read(request: &HttpRequest, answer: &HttpAnswer) -> EffectResult {
    let status = answer.status;
    if !(200..300).contains(&status) {
        let message = format!("status {status}");
        return EffectResult::Failed { code: "http_status".to_owned(), message, status: Some(status) };
    }
    // A body that is not JSON is one text.
    let body: Value = serde_json::from_slice(&answer.body)
        .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&answer.body).into_owned()));
    let values = request.paths.iter().map(|path| super::interpolate::at_path(&body, path));
    EffectResult::Http { status, values: values.collect() }
}
