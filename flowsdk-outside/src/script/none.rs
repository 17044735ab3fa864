//! Programs without scripts.

use async_trait::async_trait;
use flowsdk_core::flow::{OutsideFailure, ScriptRequest, ScriptRunner};
use serde_json::Value;

/// Runs no script: each fails with `script_error`. For programs that have no worker processes.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoScripts;

#[async_trait]
impl ScriptRunner for NoScripts {
    async fn run(&self, _request: &ScriptRequest) -> Result<Value, OutsideFailure> {
        Err(OutsideFailure::new("script_error", "this program runs no scripts"))
    }
}
