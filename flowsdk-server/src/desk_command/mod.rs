//! `flowsdk-server desk`: a desk in the terminal, over the desk socket.
//!
//! - [`Options`]: where the desk is, and who sits at it.
//! - `command` reads a line, `news` and `answers` say what is printed; all three are pure.
//! - `link` is the connection, `agent` keeps it, carries commands out and hears the news.

mod agent;
mod answers;
mod command;
mod connecting;
mod doing;
mod invocation;
mod keyboard;
mod line;
mod link;
mod names;
mod news;
mod options;
mod presence;
mod requests;
mod words;

use flowsdk_core::fault::BoxError;
use tokio::signal::unix::{SignalKind, signal};

use agent::Agent;
use line::Line;

pub use invocation::command_line;
pub use options::Options;

/// Works as the desk of a user until `quit`, the end of standard input or a signal. `say` prints a line.
///
/// # Errors
/// The server cannot be reached at the beginning, or refuses the user; or nothing can be printed.
pub async fn run(
    options: &Options,
    mut say: impl FnMut(&str) -> Result<(), BoxError>,
) -> Result<(), BoxError> {
    // Before signals are taken: at the question for the password they end the process.
    let client = options.log_in().await?;
    let (mut term, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let mut print = |line: Line| say(&line.into_text(options.json));
    let mut agent = Agent::new(client, keyboard::lines()?, &mut print).await?;
    let done = tokio::select! {
        done = agent.work() => done,
        _ = interrupt.recv() => Ok(()),
        _ = term.recv() => Ok(()),
    };
    agent.leave().await;
    done
}
