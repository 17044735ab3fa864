//! `agent chat`.

use std::io;
use std::path::Path;

use flowsdk_agent::model::Patience;
use flowsdk_core::fault::BoxError;

use super::file::AgentFile;
use super::stage::Stage;

/// Talks to the agents of a file until the lines end.
pub(super) async fn chat(
    path: &Path,
    lines: impl Iterator<Item = io::Result<String>>,
    mut say: impl FnMut(&str) -> Result<(), BoxError>,
) -> Result<(), BoxError> {
    let file = AgentFile::read(path)?;
    let provider = file.provider(|name| std::env::var(name).ok())?;
    let mut stage = Stage::new(&file, provider, Patience::default()).await?;
    stage.next_customer().await?;
    // Nothing else is done while a line is waited for.
    for line in lines {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        let scene = stage.say(&line).await?;
        for call in &scene.calls {
            say(&format!("  ({call})"))?;
        }
        for text in &scene.texts {
            say(&format!("> {text}"))?;
        }
        for error in &scene.errors {
            say(&format!("  ! {error}"))?;
        }
        if let Some(reason) = &scene.end_reason {
            say(&format!("  (the agents' part has ended: {reason})"))?;
            if reason == "transferToHuman" {
                // Nobody is at the desk here.
                stage.next_customer().await?;
            }
        }
    }
    Ok(())
}
