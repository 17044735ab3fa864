//! Scripts of flows, in QuickJS.
//!
//! A script runs in a worker process, a new context each. Within it QuickJS bounds time, memory and stack. A loop
//! that QuickJS cannot interrupt (inside one of its own functions) is ended by killing the worker. A worker has no
//! environment, no files and no secrets, and a script gets nothing but its scope.

mod engine;
mod none;
mod prelude;
mod source;
mod watch;
mod worker;
mod workers;

pub use none::NoScripts;
pub use worker::serve;
pub use workers::{ScriptWorkers, WorkerCommand};

use flowsdk_core::flow::ScriptFault;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A request to a worker, one line of JSON.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Question {
    /// Run a script.
    Run(Run),
    /// Parse scripts without running them.
    Check(Vec<String>),
}

/// A script to run.
#[derive(Debug, Serialize, Deserialize)]
struct Run {
    script: String,
    scope: Value,
    seed: u64,
}

/// The answer of a worker, one line of JSON.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Answer {
    Value(Value),
    /// The scripts that are not JavaScript.
    Faults(Vec<ScriptFault>),
    /// It took too long.
    Timeout,
    /// It took too much memory, or its result is too large.
    TooLarge(String),
    /// The script threw, or is not JavaScript.
    Error(String),
}
