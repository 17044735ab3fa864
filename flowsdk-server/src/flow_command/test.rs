//! `flow test`: plays definitions against test files.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use flowsdk_core::fault::BoxError;
use flowsdk_core::flow::ScriptRunner;
use flowsdk_core::flow::definition::malformed;
use flowsdk_core::flow::simulator::{Does, TestFile, simulate_with};
use flowsdk_core::router::TimeZoneName;
use serde_json::Value;

use super::TraceFormat;
use super::file::{compile, json, text};
use super::trace::traced;
use crate::printed::Printed;

/// Plays test files; `scripts` runs the scripts that they do not mock.
pub(super) async fn test(
    files: &[PathBuf],
    trace: Option<TraceFormat>,
    scripts: &dyn ScriptRunner,
) -> Result<Printed, BoxError> {
    let mut printed = Printed { text: String::new(), ok: true };
    for file in files {
        // Of a file that cannot be played nothing is; the others are.
        if let Err(error) = test_one(file, trace, scripts, &mut printed).await {
            printed.ok = false;
            writeln!(printed.text, "{error}")?;
        }
    }
    Ok(printed)
}

async fn test_one(
    file: &Path,
    trace: Option<TraceFormat>,
    scripts: &dyn ScriptRunner,
    printed: &mut Printed,
) -> Result<(), BoxError> {
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
        let report = simulate_with(&flow, &others, script, scripts).await;
        let title = if script.title.is_empty() { format!("test {}", at + 1) } else { script.title.clone() };
        let verdict = if report.passed() { "ok" } else { "FAILED" };
        writeln!(printed.text, "{}: {title} ... {verdict}", file.display())?;
        printed.ok &= report.passed();
        for failure in &report.failures {
            writeln!(printed.text, "  {failure}")?;
        }
        let shown = trace.or((!report.passed()).then_some(TraceFormat::Text));
        if let Some(format) = shown {
            printed.text.push_str(&traced(script, &report, format)?);
        }
    }
    Ok(())
}

/// Reads the tests, or tells where in the file something is not as it must be.
fn test_file(file: &Path) -> Result<TestFile, BoxError> {
    let text = text(file)?;
    let json = json(file)?;
    if json.get("blocks").is_some() && json.get("tests").is_none() {
        return Err(is_a_definition(file).into());
    }
    let odd = json["tests"].as_array().into_iter().flatten().enumerate().find_map(|(at, test)| odd(at, test));
    if let Some(odd) = odd {
        return Err(format!("{}: {odd}", file.display()).into());
    }
    let mut reader = serde_json::Deserializer::from_str(&text);
    serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let path = error.path().to_string();
        format!("{}: {path}: {}", file.display(), malformed(error.inner()).english()).into()
    })
}

/// Says what to do with a definition that is taken for tests.
fn is_a_definition(file: &Path) -> String {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let tests = file.with_extension("test.json");
    let next = if tests.exists() {
        format!("its tests are in {0}: run `flow test {0}`", tests.display())
    } else {
        let example = r#""tests": [{ "steps": [{ "say": "hi", "expect": { "messages": ["..."] } }] }]"#;
        format!(
            "write a file such as {} with {{ \"flow\": \"{name}\", {example} }}, and run `flow test` on it",
            tests.display()
        )
    };
    format!("{}: this is the definition of a flow, not a file of tests; {next}", file.display())
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
