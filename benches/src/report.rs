//! Medians, tables and `docs/performance.md`.

use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use flowsdk_core::context::OpContext;
use serde::Serialize;
use serde_json::json;

use crate::{Common, machine};

/// The figures of several runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
}

impl Spread {
    /// Of at least one value.
    pub(crate) fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        let (min, max) = (*values.first()?, *values.last()?);
        let (low, high) = (values[(values.len() - 1) / 2], values[values.len() / 2]);
        Some(Self { median: f64::midpoint(low, high), min, max })
    }
}

impl fmt::Display for Spread {
    /// `median (min-max)`, with as many digits as say something.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = match self.median {
            ..10.0 => 2,
            ..100.0 => 1,
            _ => 0,
        };
        let Self { median, min, max } = self;
        write!(f, "{median:.digits$} ({min:.digits$}-{max:.digits$})")
    }
}

/// A contender with a name in tables.
pub(crate) trait Contender: Copy + PartialEq + Serialize {
    /// Returns the name.
    fn name(self) -> &'static str;
}

/// A measurement of a race.
pub(crate) trait Measured: Serialize {
    /// The contenders of the race.
    type Contender: Contender;

    /// Returns the measured contender.
    fn contender(&self) -> Self::Contender;

    /// The figures in one line.
    fn figures(&self) -> String;

    /// Why it does not count.
    fn fault(&self) -> Option<&str>;
}

/// A measurement in one line.
pub(crate) fn line(run: &impl Measured) -> String {
    let fault = run.fault().map_or(String::new(), |fault| format!(" DOES NOT COUNT: {fault}"));
    format!("{}{fault}", run.figures())
}

/// Returns the figures of the runs of `who` that count.
pub(crate) fn spread<R: Measured>(runs: &[R], who: R::Contender, of: fn(&R) -> f64) -> Option<Spread> {
    Spread::of(runs.iter().filter(|run| run.contender() == who && run.fault().is_none()).map(of))
}

/// Prints the result of the race `name`, and writes it if that is wanted.
///
/// # Errors
/// A run does not count.
pub(crate) fn finish(common: &Common, name: &str, section: &str, runs: &[impl Measured]) -> Result<()> {
    if common.json {
        println!("{}", json!({ "race": name, "runs": runs }));
    } else {
        println!("{section}");
    }
    let faults: Vec<String> = runs.iter().filter(|run| run.fault().is_some()).map(line).collect();
    if !faults.is_empty() {
        bail!("the race does not count:\n{}", faults.join("\n"));
    }
    if common.write {
        write(name, section)?;
    }
    Ok(())
}

/// A table, printed in Markdown.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Creates a table with these columns.
    pub(crate) fn new(columns: &[&str]) -> Self {
        let head = columns.iter().map(|&name| name.to_owned()).collect();
        Self { rows: vec![head, vec!["---".to_owned(); columns.len()]] }
    }

    /// Adds a row below the others.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for row in &self.rows {
            writeln!(f, "| {} |", row.join(" | "))?;
        }
        Ok(())
    }
}

/// Returns the cell of a figure that may not have been measured.
pub(crate) fn cell(value: Option<impl fmt::Display>) -> String {
    value.map_or("-".to_owned(), |value| value.to_string())
}

/// Returns the cell of a ratio that may not have been measured.
pub(crate) fn times(ratio: Option<f64>) -> String {
    cell(ratio.map(|ratio| format!("{ratio:.2}x")))
}

/// A goal and whether it is met.
pub(crate) fn goal(text: &str, measured: Option<f64>, met: impl Fn(f64) -> bool) -> String {
    match measured {
        Some(value) => {
            let word = if met(value) { "met" } else { "NOT met" };
            format!("- {text}: {value:.2}, {word}\n")
        }
        None => format!("- {text}: not measured\n"),
    }
}

/// The date and the machine, as every section says them.
pub(crate) fn circumstances(command: &str) -> String {
    let today = OpContext::system().now().to_iso();
    let date = today.split('T').next().unwrap_or_default();
    format!("{date}, {}. `{command}`\n", machine::describe())
}

/// Replaces the section `name` of `docs/performance.md`, or adds it.
pub(crate) fn write(name: &str, section: &str) -> Result<()> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("docs").join("performance.md");
    fs::create_dir_all(file.parent().context("a folder")?)?;
    let before = fs::read_to_string(&file).unwrap_or_else(|_| PREFACE.to_owned());
    fs::write(&file, with_section(&before, name, section))?;
    eprintln!("flowsdk-benches: wrote {}", file.display());
    Ok(())
}

const PREFACE: &str = "# Performance

Written by `cargo xtask bench NAME --write`. A race does the same work on our server and on a peer, in turns, the server on one
core and the load on another. Every answer is checked, and the rows in the database are counted afterwards: a run in which
something was lost, doubled or out of order does not count. Figures are medians of the rounds, with the least and the greatest in
parentheses. The machines are shared; compare within a table, not between machines.
";

fn with_section(document: &str, name: &str, section: &str) -> String {
    let (begin, end) = (format!("<!-- bench {name} -->\n"), format!("<!-- end {name} -->\n"));
    let section = format!("{begin}{section}{end}");
    let found = document.find(&begin).zip(document.find(&end));
    match found {
        Some((from, to)) => format!("{}{section}{}", &document[..from], &document[to + end.len()..]),
        None => format!("{document}\n{section}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_number_lies_between() {
        let spread = Spread::of([4.0, 1.0, 3.0, 2.0]).expect("values");
        assert_eq!((spread.median, spread.min, spread.max), (2.5, 1.0, 4.0));
        assert_eq!(spread.to_string(), "2.50 (1.00-4.00)");
        assert_eq!(Spread::of([]), None);
    }

    #[test]
    fn a_section_is_added_and_then_replaced() {
        let one = with_section("# P\n", "a", "first\n");
        assert_eq!(one, "# P\n\n<!-- bench a -->\nfirst\n<!-- end a -->\n");
        let two = with_section(&with_section(&one, "b", "other\n"), "a", "second\n");
        assert!(two.contains("second") && two.contains("other") && !two.contains("first"));
    }
}
