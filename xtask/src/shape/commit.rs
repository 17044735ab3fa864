//! The price of a change: the files and places that a commit touches.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};

/// Lists the files of a commit: new ones, and those that were there with their number of places. Generated files
/// (lock file, OpenAPI document) are counted apart.
pub(super) fn price(root: &Path, commit: &str) -> Result<String> {
    let diff = Command::new("git")
        .current_dir(root)
        .args(["show", "--format=", "--unified=0", "--no-renames", commit])
        .output()?;
    ensure!(diff.status.success(), "git knows no commit {commit}");
    Ok(report(&String::from_utf8_lossy(&diff.stdout)))
}

fn report(diff: &str) -> String {
    let mut files: Vec<(String, bool, usize)> = Vec::new();
    for line in diff.lines() {
        if let Some(path) = line.strip_prefix("diff --git a/") {
            files.push((path.split(" b/").next().unwrap_or(path).to_owned(), false, 0));
        } else if let Some(file) = files.last_mut() {
            file.1 |= line.starts_with("new file mode");
            file.2 += usize::from(line.starts_with("@@ "));
        }
    }
    let is_generated =
        |path: &str| [".lock", "openapi.json", "asyncapi.json"].iter().any(|ending| path.ends_with(ending));
    let (generated, written): (Vec<_>, Vec<_>) = files.into_iter().partition(|(path, ..)| is_generated(path));
    let (new, shared): (Vec<_>, Vec<_>) = written.into_iter().partition(|(_, is_new, _)| *is_new);
    let places: usize = shared.iter().map(|(.., places)| places).sum();
    let mut text = format!(
        "files: {} ({} new, {} shared with {places} places), generated: {}\n",
        new.len() + shared.len(),
        new.len(),
        shared.len(),
        generated.len()
    );
    for (path, ..) in new {
        let _infallible = writeln!(text, "  new     {path}");
    }
    for (path, _, places) in shared {
        let _infallible = writeln!(text, "  {places:>3}     {path}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_files_and_places_are_told_apart() {
        let diff = "diff --git a/a.rs b/a.rs\nnew file mode 100644\n@@ -0,0 +1 @@\n+x\n\
                    diff --git a/b.rs b/b.rs\n@@ -1 +1 @@\n-x\n+y\n@@ -9 +9 @@\n-x\n+y\n\
                    diff --git a/Cargo.lock b/Cargo.lock\n@@ -1 +1 @@\n-x\n+y\n";
        let text = report(diff);
        assert!(text.starts_with("files: 2 (1 new, 1 shared with 2 places), generated: 1\n"), "{text}");
    }
}
