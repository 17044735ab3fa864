//! `flowsdk-server flow`: checks, draws and tests definitions, without a server.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Subcommand;
use flowsdk_core::fault::BoxError;
use flowsdk_core::flow::graph::Graph;
use flowsdk_core::flow::simulator::{Does, TestFile, simulate};
use flowsdk_core::flow::{CompiledFlow, FlowDefinition, FlowVersion, Problem};
use flowsdk_core::id::{FlowId, FlowVersionId, RouterId};
use flowsdk_core::router::TimeZoneName;
use flowsdk_core::time::Timestamp;
use serde_json::Value;

use crate::strict_json::{self, Refused};

/// Commands over definitions.
#[derive(Debug, Subcommand)]
pub enum FlowCommand {
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
    /// Plays definitions against the scripts of test files; fails when an expectation is not met.
    Test {
        /// The test files, as JSON.
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// Print the effects of every step.
        #[arg(long)]
        trace: bool,
    },
}

/// The output of a command, and its success.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Printed {
    /// The text for standard output.
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
        let definition = match json(file) {
            Ok(definition) => definition,
            // The other files may be fine, or wrong in ways of their own.
            Err(error) => {
                printed.ok = false;
                writeln!(printed.text, "{error}")?;
                continue;
            }
        };
        let problems = match FlowDefinition::parse(&definition) {
            Ok(definition) => definition.validate(),
            Err(problems) => problems,
        };
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

fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

fn line(problem: &Problem) -> String {
    let severity = if problem.is_error() { "error" } else { "warning" };
    let block = problem.block_id.as_ref().map(|block| format!(" in `{block}`")).unwrap_or_default();
    format!("{severity} {}{block} at {}: {}", problem.code, problem.pointer, problem.message.english())
}

fn graph(file: &Path, mermaid: bool) -> Result<Printed, BoxError> {
    let definition = FlowDefinition::parse(&json(file)?).map_err(|problems| listed(file, &problems))?;
    let graph = Graph::new(&definition);
    Ok(Printed { text: if mermaid { graph.to_mermaid() } else { graph.to_svg() }, ok: true })
}

fn test(files: &[PathBuf], trace: bool) -> Result<Printed, BoxError> {
    let mut printed = Printed { text: String::new(), ok: true };
    for file in files {
        // Of a file that cannot be played nothing is; the others are.
        if let Err(error) = test_one(file, trace, &mut printed) {
            printed.ok = false;
            writeln!(printed.text, "{error}")?;
        }
    }
    Ok(printed)
}

fn test_one(file: &Path, trace: bool, printed: &mut Printed) -> Result<(), BoxError> {
    let tests = test_file(file)?;
    if tests.tests.is_empty() {
        return Err(format!("{}: tests: expected at least one", file.display()).into());
    }
    let folder = file.parent().unwrap_or(Path::new(""));
    let named = |field: &str, id: &str, path: &str| {
        let place = format!("{}: {field}", file.display());
        compile(id, &folder.join(path)).map_err(|error| format!("{place}: {error}"))
    };
    let flow = named("flow", "flow", &tests.flow)?;
    let others = tests.flows.iter().map(|(id, path)| named(&format!("flows.{id}"), id, path));
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
    Ok(())
}

/// Reads the tests, or tells where in the file something is not as it must be.
fn test_file(file: &Path) -> Result<TestFile, BoxError> {
    let text = text(file)?;
    let json = json(file)?;
    let odd = json["tests"].as_array().into_iter().flatten().enumerate().find_map(|(at, test)| odd(at, test));
    if let Some(odd) = odd {
        return Err(format!("{}: {odd}", file.display()).into());
    }
    let mut reader = serde_json::Deserializer::from_str(&text);
    serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let path = error.path().to_string();
        format!("{}: {path}: {}", file.display(), error.into_inner()).into()
    })
}

/// Returns the field of a test that would be left out or put into other words than the author's.
fn odd(at: usize, test: &Value) -> Option<String> {
    let of = |field: &str, fits: fn(&str) -> bool, expected: &str| {
        let text = test[field].as_str().filter(|text| !fits(text))?;
        Some(format!("tests[{at}].{field}: expected {expected}, found `{text}`"))
    };
    let head = of("now", is_moment, "a moment such as 2026-01-01T12:00:00Z")
        .or_else(|| of("tz", is_time_zone, "an IANA time zone such as America/Sao_Paulo"));
    head.or_else(|| {
        let steps = test["steps"].as_array().into_iter().flatten().enumerate();
        steps.into_iter().find_map(|(step, fields)| {
            let names: Vec<_> = fields.as_object()?.keys().filter(|name| *name != "expect").collect();
            if matches!(&names[..], [name] if Does::NAMES.contains(&name.as_str())) {
                return None;
            }
            let known = Does::NAMES.join(", ");
            let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
            let found = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            Some(format!(
                "tests[{at}].steps[{step}]: expected one of {known}, perhaps with expect; found {found}"
            ))
        })
    })
}

fn is_moment(text: &str) -> bool {
    text.parse::<jiff::Timestamp>().is_ok()
}

fn is_time_zone(text: &str) -> bool {
    TimeZoneName::parse(text).is_ok()
}

fn text(file: &Path) -> Result<String, BoxError> {
    let text = std::fs::read_to_string(file);
    let text = text.map_err(|error| format!("{}: cannot be read: {error}", file.display()))?;
    // The byte order mark that some editors write is not part of the JSON.
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

/// Reads as strictly as the API reads bodies, so that an accepted file is not refused there.
fn json(file: &Path) -> Result<Value, BoxError> {
    let text = text(file)?;
    Ok(strict_json::parse(text.as_bytes()).map_err(|refused| match refused {
        Refused::Syntax(error) => format!("{}: {error}", file.display()),
        Refused::Field(field, why) => format!("{}: {field}: {}", file.display(), why.english()),
    })?)
}

fn compile(id: &str, file: &Path) -> Result<Arc<CompiledFlow>, BoxError> {
    let flow_id = FlowId::parse(id).map_err(|_| format!("expected the id of a flow, found `{id}`"))?;
    let version = FlowVersion {
        id: FlowVersionId::parse(format!("{id}-v1"))?,
        flow_id,
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

    #[test]
    fn files_are_read_as_the_api_reads_bodies() {
        let folder = tempfile::tempdir().expect("a folder");
        let checked = |content: &[u8]| {
            let file = folder.path().join("flow.json");
            std::fs::write(&file, content).expect("written");
            run(&FlowCommand::Check { files: vec![file] }).expect("checked")
        };
        let flow = |more: &str, end: &str| {
            format!(
                r#"{{ "schemaVersion": 1, "startBlockId": "a", {more}
                "blocks": [{{ "id": "a", "type": "content", "defaultOutput": {end} }}] }}"#
            )
        };
        let end = r#"{ "end": true }"#;
        let twice = checked(flow(r#""startBlockId": "b","#, end).as_bytes());
        assert!(
            !twice.ok && twice.text.contains("flow.json: startBlockId: Repeated field"),
            "{}",
            twice.text
        );
        let below = checked(flow("", r#"{ "end": true, "end": true }"#).as_bytes());
        assert!(below.text.contains("blocks[0].defaultOutput.end: Repeated field"), "{}", below.text);
        let marked = checked(&[b"\xef\xbb\xbf", flow("", end).as_bytes()].concat());
        assert!(marked.ok && marked.text.contains("flow.json: 0 errors, 0 warnings"), "{}", marked.text);
        let always =
            r#"{ "blockId": "gone" }, "outputConditions": [{ "conditions": [], "target": { "end": true } }]"#;
        let one = checked(flow("", always).as_bytes());
        assert!(one.text.contains("flow.json: 1 error, 1 warning\n"), "{}", one.text);
    }

    #[test]
    fn what_is_wrong_with_a_test_is_told_with_its_place() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        let write = |name: &str, text: &str| std::fs::write(at(name), text).expect("written");
        let flow = r#"{ "schemaVersion": 1, "startBlockId": "a", "blocks": [
            { "id": "a", "type": "content", "defaultOutput": { "flowId": "gone" } }] }"#;
        write("flow.json", flow);
        let test = |test: &str| format!(r#"{{ "flow": "flow.json", "tests": [ {{}}, {test} ] }}"#);
        write("good.json", r#"{ "flow": "flow.json", "tests": [{}] }"#);
        let files = vec![at("nowhere.json"), at("flow.json")];
        let checked = run(&FlowCommand::Check { files }).expect("checked");
        assert!(!checked.ok && checked.text.contains("nowhere.json: cannot be read"), "{}", checked.text);
        assert!(checked.text.contains("flow.json: 0 errors"), "{}", checked.text);
        for (content, expected) in [
            ("{\n  \"flow\": 7,", "line 2"),
            (r#"{ "tests": [] }"#, "missing field `flow`"),
            (r#"{ "flow": "flow.json", "tests": [] }"#, "t.json: tests: expected at least one"),
            (r#"{ "flow": "none.json", "tests": [{}] }"#, "t.json: flow: "),
            (r#"{ "flow": "none.json", "tests": [{}] }"#, "none.json: cannot be read: "),
            (
                r#"{ "flow": "flow.json", "flows": { "a b": "flow.json" }, "tests": [{}] }"#,
                "flows.a b: expected the id of a flow",
            ),
            (
                &test(r#"{ "steps": [{ "say": "a" }, { "sya": "b" }] }"#),
                "tests[1].steps[1]: expected one of say, ",
            ),
            (&test(r#"{ "steps": [{ "say": "a", "expects": {} }] }"#), "found `expects`, `say`"),
            (&test(r#"{ "steps": [{}] }"#), "found none"),
            (&test(r#"{ "steps": [{ "wait": "a" }] }"#), "tests[1].steps[0]"),
            (&test(r#"{ "now": "noon" }"#), "tests[1].now: expected a moment"),
            (&test(r#"{ "tz": "Mars" }"#), "tests[1].tz: expected an IANA time zone"),
        ] {
            write("t.json", content);
            let files = vec![at("t.json"), at("good.json")];
            let Printed { text, ok } = run(&FlowCommand::Test { files, trace: false }).expect("played");
            assert!(!ok && text.contains("t.json: ") && text.contains(expected), "{expected} not in {text}");
            assert!(text.contains("good.json: test 0 ... ok"), "the other file is played: {text}");
        }
        write("t.json", &test(r#"{ "steps": [{ "say": "a", "expect": { "end": "ended" } }] }"#));
        let played = run(&FlowCommand::Test { files: vec![at("t.json")], trace: false }).expect("played");
        assert!(!played.ok);
        assert!(played.text.contains("froze with flow_not_found: flow `gone`"), "{}", played.text);
    }
}
