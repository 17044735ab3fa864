//! `flow new`: a definition to begin with, and its test.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

use flowsdk_core::fault::BoxError;
use serde_json::Value;

/// A definition that has no problem.
const STARTER: &str = include_str!("starter.json");
/// A test that it passes.
const TEST: &str = include_str!("starter.test.json");
/// What stands in the test for the name of the file.
const FILE: &str = "\"FILE\"";

/// Writes a definition to begin with into `file`, and a test beside it.
///
/// # Errors
/// One of the files is there already, or cannot be written.
pub(super) fn new(file: &Path) -> Result<String, BoxError> {
    let name = file.file_name().and_then(|name| name.to_str());
    let name = name.ok_or_else(|| format!("{}: expected the name of a file", file.display()))?;
    let test = file.with_extension("test.json");
    for path in [file, &test] {
        if path.exists() {
            return Err(format!("{} is there already", path.display()).into());
        }
    }
    write(file, STARTER)?;
    write(&test, &TEST.replace(FILE, &Value::from(name).to_string()))?;
    let (file, test) = (file.display(), test.display());
    Ok(format!(
        "{file} is a flow, and {test} its test. Next:\n  flowsdk-server flow check {file}\n  flowsdk-server flow test {test}\n"
    ))
}

fn write(path: &Path, text: &str) -> Result<(), BoxError> {
    let written = OpenOptions::new().write(true).create_new(true).open(path);
    let written = written.and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| format!("{}: {error}", path.display()).into())
}
