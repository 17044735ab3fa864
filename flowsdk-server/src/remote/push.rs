//! `flow push`: a file becomes the draft of a flow.

use std::fmt::Write as _;
use std::path::PathBuf;

use flowsdk_core::fault::BoxError;
use flowsdk_core::flow::Written;

use super::api::{Flow, FlowDetails, NewFlow, Problem, Router, Validation};
use super::{Client, RemoteError};
use crate::flow_command::{ProblemLine, read_definition};
use crate::printed::Printed;

/// Where a file goes.
#[derive(Debug, Clone, PartialEq, Eq, clap::Args)]
pub struct Target {
    /// The definition, as JSON.
    pub file: PathBuf,
    /// The name or id of the router.
    #[arg(long)]
    pub router: String,
    /// The name or id of the flow; without it, the flow of the router that the file was pulled from or pushed to, or else
    /// the one with the name of the file.
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
        (_, false) => writeln!(text, "not published: the draft has errors")?,
        (false, true) => text.push_str(&unpublished(client, &flow, &definition).await?),
    }
    Ok(Printed { text, ok: valid })
}

/// Says what visitors get while the draft is not published.
async fn unpublished(client: &mut Client, flow: &Flow, draft: &Written) -> Result<String, BoxError> {
    let Some(number) = flow.published_version else {
        return Ok("not published: visitors get the draft with --publish\n".to_owned());
    };
    Ok(if client.version(flow, number).await?.written()? == *draft {
        format!("published as it is: version {number}\n")
    } else {
        format!("not published: visitors get version {number}, and the draft with --publish\n")
    })
}

impl Target {
    /// Returns the name that a flow has without a `--name`.
    fn file_name(&self) -> Result<&str, BoxError> {
        let stem = self.file.file_stem().and_then(|stem| stem.to_str());
        stem.ok_or_else(|| format!("{}: the flow needs a --name", self.file.display()).into())
    }

    /// Returns the flow that the file goes to, if there is one, and the name of one that is to be made.
    async fn flow(
        &self,
        client: &mut Client,
        router: &Router,
    ) -> Result<(Option<FlowDetails>, &str), BoxError> {
        let name = match &self.name {
            Some(name) => name,
            None => {
                let known = self.known_flow(client, router).await?;
                if known.is_some() {
                    return Ok((known, ""));
                }
                self.file_name()?
            }
        };
        match client.flow_of(router, name).await? {
            Some(found) => Ok((Some(client.flow(&found.id).await?), name)),
            None => Ok((None, name)),
        }
    }

    /// Returns the flow of the router that the file was pulled from or pushed to.
    async fn known_flow(
        &self,
        client: &mut Client,
        router: &Router,
    ) -> Result<Option<FlowDetails>, BoxError> {
        let mut known: Vec<FlowDetails> = Vec::new();
        for id in client.revisions()?.flows(&client.session().url, &self.file)? {
            match client.flow(&id).await {
                Ok(found) if found.router_id == router.id => known.push(found),
                // Of another router, or deleted since.
                Ok(_) | Err(RemoteError::NotFound { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        if known.len() > 1 {
            let flows: Vec<_> =
                known.iter().map(|found| format!("`{}` ({})", found.flow.name, found.flow.id)).collect();
            let file = self.file.display();
            let flows = flows.join(" and ");
            return Err(
                format!("{file} is a file of several flows, {flows}: say which one with --name").into()
            );
        }
        Ok(known.pop())
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
    client.revisions()?.note(&client.session().url, &flow.id, &target.file, flow.revision)?;
    Ok((flow, drafted))
}

/// Creates the flow, or replaces its draft if the file was made of it.
async fn put(
    client: &mut Client,
    router: &Router,
    target: &Target,
    definition: &Written,
) -> Result<(Flow, Drafted), BoxError> {
    let (found, name) = target.flow(client, router).await?;
    let Some(found) = found else {
        let kind = definition["kind"].as_str().unwrap_or("flow");
        let new = NewFlow { router_id: &router.id, name, kind, definition };
        return Ok((client.create_flow(&new).await?, Drafted::Created));
    };
    if found.written()? == *definition {
        return Ok((found.flow, Drafted::Unchanged));
    }
    let FlowDetails { flow, .. } = found;
    let known = client.revisions()?.of(&client.session().url, &flow.id, &target.file)?;
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
