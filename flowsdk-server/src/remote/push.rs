//! `flow push`: a file becomes the draft of a flow.

use std::fmt::Write as _;
use std::path::PathBuf;

use flowsdk_core::fault::BoxError;
use flowsdk_core::flow::Written;

use super::api::{Flow, FlowDetails, NewFlow, Problem, Router, Validation};
use super::{Client, RemoteError};
use crate::flow_command::{Printed, ProblemLine, read_definition};

/// Where a file goes.
#[derive(Debug, Clone, PartialEq, Eq, clap::Args)]
pub struct Target {
    /// The definition, as JSON.
    pub file: PathBuf,
    /// The name or id of the router.
    #[arg(long)]
    pub router: String,
    /// The name or id of the flow; without it, the name of the file.
    #[arg(long)]
    pub name: Option<String>,
    /// Replace the draft of the server, also where the file was not made of it.
    #[arg(long)]
    pub force: bool,
}

/// What became of the draft.
enum Drafted {
    Created,
    Updated,
    Unchanged,
}

/// Puts a file into the draft of its flow, which is made if there is none, and publishes it if that is wished.
///
/// # Errors
/// The file cannot be read, or the server refuses.
pub async fn push(client: &mut Client, target: &Target, publish: bool) -> Result<Printed, BoxError> {
    let definition = read_definition(&target.file)?;
    let router = client.router(&target.router).await?;
    let (flow, drafted) = draft(client, &router, target, &definition).await?;
    let mut text = match drafted {
        Drafted::Created => {
            format!("created flow `{}` ({}) in router `{}`\n", flow.name, flow.id, router.name)
        }
        Drafted::Updated => format!("updated flow `{}`, now at revision {}\n", flow.name, flow.revision),
        Drafted::Unchanged => format!("flow `{}` is as the file, at revision {}\n", flow.name, flow.revision),
    };
    let Validation { valid, problems } = client.validate(&flow).await?;
    text.push_str(&lines(&problems));
    match (publish, valid) {
        (true, true) => {
            let version = client.publish(&flow).await?;
            writeln!(text, "published version {}", version.number)?;
        }
        (true, false) => writeln!(text, "not published: the draft has errors")?,
        (false, _) => writeln!(text, "not published: visitors get the draft with --publish")?,
    }
    Ok(Printed { text, ok: valid })
}

impl Target {
    /// Returns the name of the flow.
    pub(super) fn flow_name(&self) -> Result<String, BoxError> {
        let stem = || self.file.file_stem().and_then(|stem| stem.to_str()).map(str::to_owned);
        let name = self.name.clone().or_else(stem);
        name.ok_or_else(|| format!("{}: the flow needs a --name", self.file.display()).into())
    }
}

/// Makes a definition the draft of its flow, and notes the revision that the file has from then on.
async fn draft(
    client: &mut Client,
    router: &Router,
    target: &Target,
    definition: &Written,
) -> Result<(Flow, Drafted), BoxError> {
    let (flow, drafted) = put(client, router, target, definition).await?;
    client.revisions().note(&client.session().url, &flow.id, &target.file, flow.revision)?;
    Ok((flow, drafted))
}

/// Creates the flow, or replaces its draft if the file was made of it.
async fn put(
    client: &mut Client,
    router: &Router,
    target: &Target,
    definition: &Written,
) -> Result<(Flow, Drafted), BoxError> {
    let name = &*target.flow_name()?;
    let Some(found) = client.flow_of(router, name).await? else {
        let kind = definition["kind"].as_str().unwrap_or("flow");
        let new = NewFlow { router_id: &router.id, name, kind, definition };
        return Ok((client.create_flow(&new).await?, Drafted::Created));
    };
    let found = client.flow(&found.id).await?;
    if found.written()? == *definition {
        return Ok((found.flow, Drafted::Unchanged));
    }
    let FlowDetails { flow, .. } = found;
    let known = client.revisions().of(&client.session().url, &flow.id, &target.file)?;
    if known != Some(flow.revision) && !target.force {
        return Err(RemoteError::Newer { name: flow.name, known, now: flow.revision }.into());
    }
    // The server compares the revision again: somebody may be faster.
    Ok((client.change_draft(&flow, definition).await?, Drafted::Updated))
}

/// Makes a file the version that test channels of its router run, and lets `channel` begin with it, by default the
/// router's own. Returns the address of the chat, and lines on the problems that do not prevent it.
///
/// # Errors
/// As [`push`]; the draft has errors.
pub(super) async fn push_test(
    client: &mut Client,
    router: &Router,
    channel: Option<&str>,
    target: &Target,
) -> Result<(String, String), BoxError> {
    let definition = read_definition(&target.file)?;
    let (flow, _drafted) = draft(client, router, target, &definition).await?;
    let test = match client.publish_test(&flow, channel).await {
        Err(RemoteError::Refused(refusal)) if refusal.code == "flow_invalid" => {
            // The refusal names places; the validation also the blocks, as `flow check` does.
            let Validation { problems, .. } = client.validate(&flow).await?;
            return Err(format!("the draft has errors\n{}", lines(&problems).trim_end()).into());
        }
        test => test?,
    };
    Ok((format!("{}/chat/{}", client.session().url, test.channel.id()), lines(&test.warnings)))
}

fn lines(problems: &[Problem]) -> String {
    problems.iter().map(|problem| format!("  {}\n", line(problem))).collect()
}

fn line(problem: &Problem) -> ProblemLine<'_> {
    let Problem { severity, code, block_id, pointer, message } = problem;
    ProblemLine { severity, code, block: block_id.as_deref(), pointer, message }
}
