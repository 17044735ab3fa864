//! Worker processes for scripts: this program, started again with a subcommand.

use flowsdk_core::fault::BoxError;
use flowsdk_outside::script::{ScriptWorkers, WorkerCommand};

/// The subcommand of this program that serves scripts.
pub const WORKER_COMMAND: &str = "script-worker";
/// Most worker processes for scripts, each started when it is needed. A router has at most half of them.
const SCRIPT_WORKERS: usize = 4;

/// Worker processes of this program for scripts.
///
/// # Errors
/// This program does not know where it is.
pub fn script_workers() -> Result<ScriptWorkers, BoxError> {
    let command =
        WorkerCommand { program: std::env::current_exe()?, arguments: vec![WORKER_COMMAND.to_owned()] };
    Ok(ScriptWorkers::new(command, SCRIPT_WORKERS))
}
