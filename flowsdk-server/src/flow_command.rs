//! `flowsdk-server flow`: checks, draws and tests definitions, without a server.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Subcommand;
use flowsdk_core::fault::BoxError;
use flowsdk_core::flow::graph::Graph;
use flowsdk_core::flow::simulator::{TestFile, simulate};
use flowsdk_core::flow::{CompiledFlow, FlowDefinition, FlowVersion, Problem};
use flowsdk_core::id::{FlowId, FlowVersionId, RouterId};
use flowsdk_core::time::Timestamp;
use serde_json::Value;

/// What to do with definitions.
#[derive(Debug, Subcommand)]
pub enum FlowCommand {
    /// Names everything that is wrong with definitions; fails when one cannot be published.
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
    /// Plays definitions against the scripts of test files; fails when an expectation is not met.
    Test {
        /// The test files, as JSON.
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// Print what every step did.
        #[arg(long)]
        trace: bool,
    },
}

/// What to print, and whether all is well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Printed {
    /// For standard output.
    pub text: String,
    /// Whether the command succeeded.
    pub ok: bool,
}

/// Runs a command.
///
/// # Errors
/// When a file cannot be read.
pub fn run(command: &FlowCommand) -> Result<Printed, BoxError> {
    match command {
        FlowCommand::Check { files } => check(files),
        FlowCommand::Graph { file, mermaid } => graph(file, *mermaid),
        FlowCommand::Test { files, trace } => test(files, *trace),
    }
}

fn check(files: &[PathBuf]) -> Result<Printed, BoxError> {
    let mut printed = Printed { text: String::new(), ok: true };
    for file in files {
        let problems = match FlowDefinition::parse(&json(file)?) {
            Ok(definition) => definition.validate(),
            Err(problems) => problems,
        };
        let errors = problems.iter().filter(|problem| problem.is_error()).count();
        printed.ok &= errors == 0;
        writeln!(printed.text, "{}: {errors} errors, {} warnings", file.display(), problems.len() - errors)?;
        for problem in &problems {
            writeln!(printed.text, "  {}", line(problem))?;
        }
    }
    Ok(printed)
}

fn line(problem: &Problem) -> String {
    let severity = if problem.is_error() { "error" } else { "warning" };
    let block = problem.block_id.as_ref().map(|block| format!(" in `{block}`")).unwrap_or_default();
    format!("{severity} {}{block} at {}: {}", problem.code, problem.pointer, problem.message)
}

fn graph(file: &Path, mermaid: bool) -> Result<Printed, BoxError> {
    let definition = FlowDefinition::parse(&json(file)?).map_err(|problems| listed(file, &problems))?;
    let graph = Graph::new(&definition);
    Ok(Printed { text: if mermaid { graph.to_mermaid() } else { graph.to_svg() }, ok: true })
}

fn test(files: &[PathBuf], trace: bool) -> Result<Printed, BoxError> {
    let mut printed = Printed { text: String::new(), ok: true };
    for file in files {
        let tests: TestFile =
            serde_json::from_value(json(file)?).map_err(|error| format!("{}: {error}", file.display()))?;
        let folder = file.parent().unwrap_or(Path::new(""));
        let flow = compile("flow", &folder.join(&tests.flow))?;
        let others = tests.flows.iter().map(|(id, path)| compile(id, &folder.join(path)));
        let others = others.collect::<Result<Vec<_>, _>>()?;
        for (at, script) in tests.tests.iter().enumerate() {
            let report = simulate(&flow, &others, script);
            let title = if script.title.is_empty() { format!("test {at}") } else { script.title.clone() };
            let verdict = if report.passed() { "ok" } else { "FAILED" };
            writeln!(printed.text, "{}: {title} ... {verdict}", file.display())?;
            printed.ok &= report.passed();
            for failure in &report.failures {
                writeln!(printed.text, "  {failure}")?;
            }
            if trace || !report.passed() {
                for (step, played) in script.steps.iter().zip(&report.steps) {
                    let played = serde_json::to_string(played)?;
                    writeln!(printed.text, "  {}: {played}", step.does.name())?;
                }
            }
        }
    }
    Ok(printed)
}

fn json(file: &Path) -> Result<Value, BoxError> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    Ok(serde_json::from_str(&text).map_err(|error| format!("{}: {error}", file.display()))?)
}

fn compile(id: &str, file: &Path) -> Result<Arc<CompiledFlow>, BoxError> {
    let version = FlowVersion {
        id: FlowVersionId::parse(format!("{id}-v1"))?,
        flow_id: FlowId::parse(id)?,
        router_id: RouterId::parse("router")?,
        flow_name: id.to_owned(),
        number: 1,
        definition: json(file)?,
        created_at: Timestamp::from_millis(0),
    };
    CompiledFlow::compile(&version).map_err(|problems| listed(file, &problems).into())
}

fn listed(file: &Path, problems: &[Problem]) -> String {
    let lines: Vec<String> = problems.iter().map(line).collect();
    format!("{}:\n  {}", file.display(), lines.join("\n  "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn examples(end: &str) -> Vec<PathBuf> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/flows");
        let files = std::fs::read_dir(folder).expect("the examples").map(|file| file.expect("a file").path());
        let is_test = |path: &PathBuf| path.to_string_lossy().ends_with(".test.json");
        let mut files: Vec<_> = files.filter(|path| is_test(path) == (end == "test")).collect();
        files.retain(|path| path.extension().is_some_and(|ending| ending == "json"));
        files.sort();
        files
    }

    #[test]
    fn the_worked_examples_are_flawless_and_pass_their_tests() {
        let definitions = examples("flow");
        assert!(definitions.len() >= 3);
        let checked = run(&FlowCommand::Check { files: definitions.clone() }).expect("read");
        assert!(checked.ok && !checked.text.contains("warning "), "{}", checked.text);
        let tested = run(&FlowCommand::Test { files: examples("test"), trace: false }).expect("read");
        assert!(tested.ok && tested.text.lines().count() >= 6, "{}", tested.text);
        for file in definitions {
            for mermaid in [true, false] {
                assert!(run(&FlowCommand::Graph { file: file.clone(), mermaid }).expect("drawn").ok);
            }
        }
    }
}
