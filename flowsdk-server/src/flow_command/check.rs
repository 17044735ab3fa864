//! `flow check`: the problems of definitions.

use std::fmt::Write as _;
use std::path::PathBuf;

use flowsdk_core::fault::BoxError;
use flowsdk_core::flow::{FlowChecker, FlowKind};
use serde_json::Value;

use super::file::{definition, line};
use crate::printed::Printed;

/// Lists the problems of definitions.
///
/// # Errors
/// Nobody could parse the scripts.
pub(super) async fn check(files: &[PathBuf], checker: &FlowChecker) -> Result<Printed, BoxError> {
    let mut printed = Printed { text: String::new(), ok: true };
    for file in files {
        let definition = match definition(file) {
            Ok(definition) => definition,
            // The other files may be fine, or wrong in ways of their own.
            Err(error) => {
                printed.ok = false;
                writeln!(printed.text, "{error}")?;
                continue;
            }
        };
        let (_, problems) = checker.problems(kind(&definition), definition.into()).await?;
        let errors = problems.iter().filter(|problem| problem.is_error()).count();
        printed.ok &= errors == 0;
        let (errors, warnings) = (counted(errors, "error"), counted(problems.len() - errors, "warning"));
        writeln!(printed.text, "{}: {errors}, {warnings}", file.display())?;
        for problem in &problems {
            writeln!(printed.text, "  {}", line(problem))?;
        }
    }
    Ok(printed)
}

/// A file is its own record: what it says to be is what it is.
fn kind(definition: &Value) -> FlowKind {
    definition["kind"].as_str().and_then(FlowKind::parse).unwrap_or(FlowKind::Flow)
}

fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
