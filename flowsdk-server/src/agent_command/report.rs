//! The report, for people and for programs.

use std::fmt::Write as _;
use std::path::Path;

use super::play::Outcome;
use crate::front::escaped;

/// Returns the report for people.
pub(super) fn text(file: &Path, outcomes: &[Outcome]) -> String {
    let mut text = String::new();
    for outcome in outcomes {
        let verdict = if outcome.failures.is_empty() { "ok" } else { "FAILED" };
        let (name, turns, cost) = (&outcome.name, outcome.turns, outcome.cost.as_units());
        let turns = if turns == 1 { "1 turn".to_owned() } else { format!("{turns} turns") };
        text += &format!("{}: {name} ... {verdict} ({turns}, cost {cost})\n", file.display());
        for failure in &outcome.failures {
            text += &format!("  {failure}\n");
        }
        if !outcome.failures.is_empty() {
            for line in &outcome.course {
                text += &format!("    {line}\n");
            }
        }
    }
    let failed = failed(outcomes);
    text += &format!("{} passed, {failed} failed\n", outcomes.len() - failed);
    text
}

fn failed(outcomes: &[Outcome]) -> usize {
    outcomes.iter().filter(|outcome| !outcome.failures.is_empty()).count()
}

/// Returns the report as XML in the form of JUnit. Scenarios have no time of their own: nothing in them waits.
pub(super) fn junit(file: &Path, outcomes: &[Outcome]) -> String {
    let name = attribute(&file.display().to_string());
    let (tests, failures) = (outcomes.len(), failed(outcomes));
    let counts = format!(r#"tests="{tests}" failures="{failures}" errors="0""#);
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {counts}>\n<testsuite name=\"{name}\" {counts} skipped=\"0\">\n"
    );
    for outcome in outcomes {
        let scenario = attribute(&outcome.name);
        // Writing to a text does not fail.
        let _ = write!(xml, "<testcase classname=\"{name}\" name=\"{scenario}\" time=\"0\">");
        if let Some(first) = outcome.failures.first() {
            let all = outcome.failures.iter().chain(&outcome.course).map(String::as_str).collect::<Vec<_>>();
            let _ = write!(
                xml,
                "<failure message=\"{}\">{}</failure>",
                attribute(first),
                escaped(&printable(&all.join("\n")))
            );
        }
        xml.push_str("</testcase>\n");
    }
    xml + "</testsuite>\n</testsuites>\n"
}

fn attribute(text: &str) -> String {
    escaped(&printable(text)).replace('\n', "&#10;")
}

/// Leaves out what XML cannot hold.
fn printable(text: &str) -> String {
    text.chars().filter(|letter| *letter == '\n' || !letter.is_control()).collect()
}
