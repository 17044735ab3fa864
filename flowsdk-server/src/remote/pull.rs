//! `flow pull`: the draft of a flow becomes a file.

use std::path::PathBuf;

use flowsdk_core::fault::BoxError;

use super::{Client, RemoteError};
use crate::flow_command::read_definition;

/// What is pulled, and where to.
#[derive(Debug, Clone, PartialEq, Eq, clap::Args)]
pub struct Pull {
    /// The name or id of the flow.
    pub flow: String,
    /// The file to write; without it, the definition is printed.
    pub file: Option<PathBuf>,
    /// The name or id of the router, where several have a flow of this name.
    #[arg(long)]
    pub router: Option<String>,
    /// Replace a file that says something else.
    #[arg(long)]
    pub force: bool,
}

/// Writes the draft of a flow into a file, or returns it. A file that says the same stays as its author wrote it: a
/// server keeps the order of keys, but not the lines.
///
/// # Errors
/// There is no such flow, the server refuses, or the file says something else or cannot be written.
pub async fn pull(client: &mut Client, pull: &Pull) -> Result<String, BoxError> {
    let router = match &pull.router {
        Some(name) => Some(client.router(name).await?),
        None => None,
    };
    let found = client.flow_named(router.as_ref(), &pull.flow).await?;
    let id = found.map_or_else(|| pull.flow.clone(), |flow| flow.id);
    let found = match client.flow(&id).await {
        Err(RemoteError::NotFound { .. }) => {
            return Err(client.no_flow(router.as_ref(), &pull.flow).await?.into());
        }
        found => found?,
    };
    let written = found.written()?;
    let definition = written.to_pretty()?;
    let Some(file) = &pull.file else { return Ok(definition) };
    let described = format!("flow `{}` at revision {}", found.flow.name, found.flow.revision);
    let note = |client: &Client| {
        client.revisions()?.note(&client.session().url, &found.flow.id, file, found.flow.revision)
    };
    if read_definition(file).is_ok_and(|here| here == written) {
        note(client)?;
        return Ok(format!("{} is {described} already", file.display()));
    }
    if file.exists() && !pull.force {
        return Err(format!("{} says something else; --force replaces it", file.display()).into());
    }
    std::fs::write(file, definition + "\n")
        .map_err(|source| RemoteError::File { path: file.clone(), source })?;
    note(client)?;
    Ok(format!("{} is {described}", file.display()))
}
