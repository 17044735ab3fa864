//! Files of definitions and tests, and the problems in them.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use flowsdk_core::fault::BoxError;
use flowsdk_core::flow::{CompiledFlow, FlowVersion, Problem, Written};
use flowsdk_core::id::{BlockId, FlowId, FlowVersionId, RouterId};
use flowsdk_core::time::Timestamp;
use serde_json::Value;

use crate::strict_json::{self, Refused};

/// A problem of a definition, as the commands print it.
pub(crate) struct ProblemLine<'a> {
    /// `error` or `warning`.
    pub(crate) severity: &'a str,
    pub(crate) code: &'a str,
    /// The id of the block.
    pub(crate) block: Option<&'a str>,
    /// The JSON pointer to the value at fault; empty for the definition itself.
    pub(crate) pointer: &'a str,
    pub(crate) message: &'a str,
}

impl fmt::Display for ProblemLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { severity, code, block, pointer, message } = self;
        write!(f, "{severity} {code}")?;
        if let Some(block) = block {
            write!(f, " in `{block}`")?;
        }
        if !pointer.is_empty() {
            write!(f, " at {pointer}")?;
        }
        write!(f, ": {message}")
    }
}

pub(super) fn line(problem: &Problem) -> String {
    let line = ProblemLine {
        severity: if problem.is_error() { "error" } else { "warning" },
        code: problem.code,
        block: problem.block_id.as_ref().map(BlockId::as_str),
        pointer: &problem.pointer,
        message: problem.message.english(),
    };
    line.to_string()
}

pub(super) fn text(file: &Path) -> Result<String, BoxError> {
    let text = std::fs::read_to_string(file);
    let text = text.map_err(|error| format!("{}: cannot be read: {error}", file.display()))?;
    // The byte order mark that some editors write is not part of the JSON.
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

/// Reads as strictly as the API reads bodies, so that an accepted file is not refused there.
pub(crate) fn json(file: &Path) -> Result<Value, BoxError> {
    let text = text(file)?;
    if text.trim().is_empty() {
        return Err(format!("{}: the file is empty", file.display()).into());
    }
    Ok(strict_json::parse(text.as_bytes()).map_err(|refused| match refused {
        Refused::Syntax(error) => format!("{}: {error}", file.display()),
        Refused::Field(field, why) => format!("{}: {field}: {}", file.display(), why.english()),
    })?)
}

/// Reads a definition. A file of tests is none.
pub(super) fn definition(file: &Path) -> Result<Value, BoxError> {
    let read = json(file)?;
    if read.get("tests").is_some() && read.get("blocks").is_none() {
        let name = file.display();
        return Err(
            format!("{name}: this is a file of tests, not a definition: run `flow test {name}`").into()
        );
    }
    Ok(read)
}

/// Reads a definition that goes to a server, where anything may be a draft, and keeps the order of its keys.
pub(crate) fn written(file: &Path) -> Result<Written, BoxError> {
    let read = definition(file)?;
    if ["schemaVersion", "startBlockId", "blocks"].iter().all(|field| read.get(field).is_none()) {
        return Err(format!("{}: this is not the definition of a flow", file.display()).into());
    }
    Ok(Written::read(&text(file)?)?)
}

/// Compiles the definition in a file as a flow with this id, and the name of the file.
pub(super) fn compile(id: &str, file: &Path) -> Result<Arc<CompiledFlow>, BoxError> {
    let flow_id = FlowId::parse(id).map_err(|_| format!("expected the id of a flow, found `{id}`"))?;
    let version = FlowVersion {
        id: FlowVersionId::parse(format!("{id}-v1"))?,
        flow_id,
        router_id: RouterId::parse("router")?,
        flow_name: file.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        number: 1,
        definition: definition(file)?.into(),
        created_at: Timestamp::from_millis(0),
    };
    CompiledFlow::compile(&version).map_err(|problems| listed(file, &problems).into())
}

pub(super) fn listed(file: &Path, problems: &[Problem]) -> String {
    let lines: Vec<String> = problems.iter().map(line).collect();
    format!("{}:\n  {}", file.display(), lines.join("\n  "))
}
