//! The samples of a deployment (`compose.yaml`, the folder `deploy`) and the workflow of a release, held against what
//! the server documents and what this program does.

mod compose;
mod release;
mod unit;

use std::collections::BTreeSet;
use std::fs;

use crate::workspace;

/// The page that documents the variables and commands of the server.
const CONFIGURATION: &str = "docs/configuration.md";

fn read(path: &str) -> String {
    fs::read_to_string(workspace::root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns the variables that the tables of a page document in their first column.
fn variables(page: &str) -> BTreeSet<&str> {
    let cells = page.lines().filter_map(|line| line.strip_prefix('|')?.split('|').next());
    cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).filter(|word| is_variable(word)).collect()
}

fn is_variable(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_uppercase())
        && word.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

/// Returns whether a page names this command of the server, with its first argument.
fn documents(page: &str, command: &str) -> bool {
    page.contains(&format!("`flowsdk-server {command}`"))
}

#[test]
fn variables_are_those_of_the_first_column() {
    let page = "`NOT_HERE`\n| `A_B`, `C` | `D` | text |\n| `lower` | x |\n| E | x |\n";
    assert_eq!(variables(page), BTreeSet::from(["A_B", "C"]));
}
