//! The Rust sources of the workspace, production and tests apart.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// A Rust file, split for counting.
pub(super) struct Source {
    /// From the root of the workspace, with `/`.
    pub(super) path: String,
    /// The lines that are not tests.
    pub(super) production: Vec<String>,
    /// Number of lines of tests.
    pub(super) tests: usize,
}

impl Source {
    /// The name of its crate's folder.
    pub(super) fn package(&self) -> &str {
        self.path.split('/').next().unwrap_or_default()
    }

    /// Counts the lines of code, docs and tests.
    pub(super) fn lines(&self) -> usize {
        self.production.len() + self.tests
    }
}

/// Every Rust file that git knows.
pub(super) fn read(root: &Path) -> Result<Vec<Source>> {
    let files = listed(root, &["*.rs"])?;
    files.iter().map(|path| Ok(parse(path, &fs::read_to_string(root.join(path))?))).collect()
}

/// The files of these patterns that git knows and that are there, from the root of the workspace.
pub(super) fn listed(root: &Path, patterns: &[&str]) -> Result<Vec<String>> {
    let listed = Command::new("git").current_dir(root).arg("ls-files").args(patterns).output()?;
    ensure!(listed.status.success(), "git ls-files: {}", String::from_utf8_lossy(&listed.stderr));
    let listed = String::from_utf8(listed.stdout).context("a path that is not UTF-8")?;
    Ok(listed.lines().filter(|path| root.join(path).is_file()).map(str::to_owned).collect())
}

/// Parts a file. A file of tests has `tests` or `testkit` in its path; in other files, the module under
/// `#[cfg(test)]` ends the production code.
pub(super) fn parse(path: &str, text: &str) -> Source {
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let is_test = path.split('/').any(|part| matches!(part, "tests" | "tests.rs" | "testkit" | "testkit.rs"));
    let inline = lines
        .windows(2)
        .position(|pair| pair[0] == "#[cfg(test)]" && pair[1].starts_with("mod ") && pair[1].ends_with('{'));
    let end = if is_test { 0 } else { inline.unwrap_or(lines.len()) };
    let tests = lines.len() - end;
    let production = lines.into_iter().take(end).collect();
    Source { path: path.to_owned(), production, tests }
}

/// Name, production lines, test lines and files of each crate, and of all.
pub(super) fn by_crate(sources: &[Source]) -> Vec<(String, usize, usize, usize)> {
    let mut crates: BTreeMap<&str, (usize, usize, usize)> = BTreeMap::new();
    for source in sources {
        for name in [source.package(), "~ all"] {
            let counts = crates.entry(name).or_default();
            counts.0 += source.production.len();
            counts.1 += source.tests;
            counts.2 += 1;
        }
    }
    crates.into_iter().map(|(name, (lines, tests, files))| (name.to_owned(), lines, tests, files)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_no_production() {
        let inline = "fn a() {}\n\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\n";
        for (path, production, tests) in [
            ("c/src/a.rs", 2, 4),
            ("c/src/a/tests.rs", 0, 6),
            ("c/tests/it/a.rs", 0, 6),
            ("c/src/testkit/a.rs", 0, 6),
        ] {
            let source = parse(path, inline);
            assert_eq!((source.production.len(), source.tests), (production, tests), "{path}");
        }
        let apart = parse("c/src/a.rs", "fn a() {}\n#[cfg(test)]\nmod tests;\nfn b() {}\n");
        assert_eq!((apart.production.len(), apart.tests), (4, 0));
    }
}
