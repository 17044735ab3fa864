//! `flowsdk-server agent`: has conversations with AI agents of a file, in memory, and holds them against what is expected.

mod chat;
mod expectation;
mod file;
mod play;
mod report;
mod scene;
mod stage;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Subcommand;
use flowsdk_agent::model::{ModelProvider, Patience};
use flowsdk_agent::recorded::{Recorder, Replay};
use flowsdk_core::fault::BoxError;

use crate::printed::Printed;
use file::AgentFile;
use stage::Stage;

/// Commands over files of AI agents.
#[derive(Debug, Subcommand)]
pub enum AgentCommand {
    /// Plays the scenarios of a file, and lists the expectations that are not met. It ends with 0 when all are, with 1 when one is
    /// not, and with 2 when the file cannot be used.
    Test {
        /// The file, as YAML or JSON.
        file: PathBuf,
        /// Write a report in the form of JUnit.
        #[arg(long, value_name = "FILE")]
        junit: Option<PathBuf>,
        /// Write what the model was asked and answered.
        #[arg(long, value_name = "FILE", conflicts_with = "replay")]
        record: Option<PathBuf>,
        /// Have the answers of such a file instead of those of the model.
        #[arg(long, value_name = "FILE")]
        replay: Option<PathBuf>,
    },
    /// Talks to the agents of a file: what you write is what a customer writes, line by line, until the end of the input.
    Chat {
        /// The file, as YAML or JSON.
        file: PathBuf,
    },
}

/// Runs a command; `say` prints what is told before the end.
///
/// # Errors
/// The file cannot be used, or the model is not to be had.
pub async fn run(
    command: &AgentCommand,
    say: impl FnMut(&str) -> Result<(), BoxError>,
) -> Result<Printed, BoxError> {
    match command {
        AgentCommand::Test { file, junit, record, replay } => {
            test(file, junit.as_deref(), record.as_deref(), replay.as_deref()).await
        }
        AgentCommand::Chat { file } => {
            chat::chat(file, std::io::stdin().lines(), say).await?;
            Ok(Printed::done(String::new()))
        }
    }
}

async fn test(
    path: &Path,
    junit: Option<&Path>,
    record: Option<&Path>,
    replay: Option<&Path>,
) -> Result<Printed, BoxError> {
    let file = AgentFile::read(path)?;
    if file.scenarios.is_empty() {
        return Err(format!("{}: scenarios: expected at least one", path.display()).into());
    }
    let replay = replay.map(file::parsed).transpose()?.map(|recording| Arc::new(Replay::new(recording)));
    let provider: Arc<dyn ModelProvider> = match &replay {
        Some(replay) => Arc::clone(replay) as _,
        None => file.provider(|name| std::env::var(name).ok())?,
    };
    let recorder = Arc::new(Recorder::new(provider));
    // Rules and recordings answer the same again at once.
    let patience = if replay.is_some() || file.is_scripted() { NO_PATIENCE } else { Patience::default() };
    let mut stage = Stage::new(&file, Arc::clone(&recorder) as _, patience).await?;
    let mut outcomes = Vec::new();
    for scenario in &file.scenarios {
        let mut outcome = play::play(&mut stage, &file, scenario).await?;
        let missed = replay.as_ref().map(|replay| replay.take_missed()).unwrap_or_default();
        outcome.failures.extend(missed.iter().map(|asked| {
            format!("replay: the model was asked what was not recorded, after {:?}", asked.last_input())
        }));
        outcomes.push(outcome);
    }
    if let Some(to) = record {
        write(to, &serde_json::to_string_pretty(&recorder.recording())?)?;
    }
    if let Some(to) = junit {
        write(to, &report::junit(path, &outcomes))?;
    }
    let ok = outcomes.iter().all(|outcome| outcome.failures.is_empty());
    Ok(Printed { text: report::text(path, &outcomes), ok })
}

/// No answer is waited for again.
const NO_PATIENCE: Patience = Patience { retries: 0, turn: std::time::Duration::from_mins(2) };

fn write(file: &Path, text: &str) -> Result<(), BoxError> {
    Ok(std::fs::write(file, text).map_err(|error| format!("{}: {error}", file.display()))?)
}

#[cfg(test)]
mod tests;
