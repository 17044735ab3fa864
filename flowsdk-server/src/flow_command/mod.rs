//! `flowsdk-server flow`: checks, draws and tests definitions without a server, and takes them to one and back.

mod check;
mod file;
mod new;
mod test;
mod trace;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Subcommand, ValueEnum};
use flowsdk_core::fault::BoxError;
use flowsdk_core::flow::graph::Graph;
use flowsdk_core::flow::{FlowChecker, FlowDefinition, ScriptRunner};

use crate::printed::Printed;
use crate::remote::pull::{self, Pull};
use crate::remote::push::{self, Target};
use crate::remote::watch::{self, Watch};
use crate::remote::{Client, SessionFile};
pub(crate) use file::{ProblemLine, written as read_definition};
use file::{definition, listed};

/// Commands over definitions.
#[derive(Debug, Subcommand)]
pub enum FlowCommand {
    /// Writes a definition to begin with, and a test of it.
    New {
        /// The file to make.
        file: PathBuf,
    },
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
    /// Makes a file the draft of a flow of the server that you are logged in at (`login`), and lists its problems.
    Push {
        /// The file, and where it goes.
        #[command(flatten)]
        target: Target,
        /// Publish it too, if it has no errors.
        #[arg(long)]
        publish: bool,
    },
    /// Writes the draft of a flow of the server that you are logged in at into a file.
    Pull(Pull),
    /// Makes a file the draft of its flow and publishes it to a test channel of its router, now and after each save,
    /// until Ctrl-C.
    Watch(Watch),
}

/// The form of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TraceFormat {
    /// Lines for people.
    Text,
    /// A line of JSON for each step.
    Json,
}

/// Runs a command; `scripts` parses and runs the scripts of definitions, and `say` prints what is told before the end.
///
/// # Errors
/// When a file cannot be read, or the server refuses.
pub async fn run(
    command: &FlowCommand,
    scripts: Arc<dyn ScriptRunner>,
    say: impl FnMut(&str) -> Result<(), BoxError>,
) -> Result<Printed, BoxError> {
    match command {
        FlowCommand::New { file } => new::new(file).map(Printed::done),
        FlowCommand::Check { files } => check::check(files, &FlowChecker::with_scripts(scripts)).await,
        FlowCommand::Graph { file, mermaid } => graph(file, *mermaid),
        FlowCommand::Test { files, trace } => test::test(files, *trace, &*scripts).await,
        FlowCommand::Push { target, publish } => push::push(&mut client()?, target, *publish).await,
        FlowCommand::Pull(pull) => pull::pull(&mut client()?, pull).await.map(Printed::done),
        FlowCommand::Watch(watched) => {
            watch::watch(&mut client()?, watched, say).await.map(|()| Printed::done(String::new()))
        }
    }
}

/// Returns the client of the server that the user is logged in at.
fn client() -> Result<Client, BoxError> {
    Ok(Client::open(SessionFile::of_user()?)?)
}

fn graph(file: &Path, mermaid: bool) -> Result<Printed, BoxError> {
    let definition = FlowDefinition::parse(&definition(file)?).map_err(|problems| listed(file, &problems))?;
    let graph = Graph::new(&definition);
    Ok(Printed { text: if mermaid { graph.to_mermaid() } else { graph.to_svg() }, ok: true })
}

#[cfg(test)]
mod tests;
