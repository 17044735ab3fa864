//! `flowsdk-server flow`: checks, draws and tests definitions, without a server.

mod check;
mod file;
mod test;
mod trace;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Subcommand, ValueEnum};
use flowsdk_core::fault::BoxError;
use flowsdk_core::flow::graph::Graph;
use flowsdk_core::flow::{FlowChecker, FlowDefinition, ScriptRunner};

use file::{json, listed};

/// Commands over definitions.
#[derive(Debug, Subcommand)]
pub enum FlowCommand {
    /// Lists the problems of definitions; fails when one cannot be published.
    Check {
        /// The definitions, as JSON.
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
    /// Prints a picture of a definition, as SVG.
    Graph {
        /// The definition, as JSON.
        file: PathBuf,
        /// As Mermaid text instead.
        #[arg(long)]
        mermaid: bool,
    },
    /// Plays definitions against test files: runs their scripts, mocks their requests, and fails when an expectation is
    /// not met.
    Test {
        /// The test files, as JSON.
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// Print every step: as `text`, or as `json`.
        #[arg(long, value_name = "FORMAT", num_args = 0..=1, require_equals = true, default_missing_value = "text")]
        trace: Option<TraceFormat>,
    },
}

/// The form of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TraceFormat {
    /// Lines for people.
    Text,
    /// A line of JSON for each step.
    Json,
}

/// The output of a command, and its success.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Printed {
    /// The text for standard output.
    pub text: String,
    /// Whether the command succeeded.
    pub ok: bool,
}

/// Runs a command; `scripts` parses and runs the scripts of definitions.
///
/// # Errors
/// When a file cannot be read.
pub async fn run(command: &FlowCommand, scripts: Arc<dyn ScriptRunner>) -> Result<Printed, BoxError> {
    match command {
        FlowCommand::Check { files } => check::check(files, &FlowChecker::with_scripts(scripts)).await,
        FlowCommand::Graph { file, mermaid } => graph(file, *mermaid),
        FlowCommand::Test { files, trace } => test::test(files, *trace, &*scripts).await,
    }
}

fn graph(file: &Path, mermaid: bool) -> Result<Printed, BoxError> {
    let definition = FlowDefinition::parse(&json(file)?).map_err(|problems| listed(file, &problems))?;
    let graph = Graph::new(&definition);
    Ok(Printed { text: if mermaid { graph.to_mermaid() } else { graph.to_svg() }, ok: true })
}

#[cfg(test)]
mod tests;
