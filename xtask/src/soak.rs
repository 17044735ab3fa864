//! `cargo xtask soak`: builds the server and breaks it for a long time.

use std::ffi::OsString;

use anyhow::Result;

use crate::packages::{self, Need};
use crate::{interrupt, process, workspace};

/// The option of `flowsdk-benches` that names a server built before.
const SERVER: &str = "--server";

/// The soak starts PostgreSQL and Redis itself, because it also stops them; this finds their programs.
pub(crate) fn run(arguments: &[OsString]) -> Result<u8> {
    if !names(arguments, SERVER) {
        process::must(workspace::cargo().args(["build", "--release", "-p", "flowsdk-server"]))?;
    }
    let mut soak = workspace::cargo();
    soak.args(["run", "--release", "--quiet", "-p", "flowsdk-benches", "--", "soak"]);
    if needs_services(arguments) {
        let found = packages::ensure(&Need::STORES, &[])?;
        for (option, program) in [("--postgres", found.postgres), ("--redis", found.redis)] {
            if let Some(program) = program.filter(|_| !names(arguments, option)) {
                soak.arg(option).arg(program.path);
            }
        }
    }
    let code = process::run(soak.args(arguments))?;
    Ok(interrupt::exit_code().unwrap_or(code))
}

/// Whether an option is there, with its value behind it or in it.
fn names(arguments: &[OsString], option: &str) -> bool {
    arguments
        .iter()
        .any(|argument| argument.to_str().is_some_and(|text| text.split('=').next() == Some(option)))
}

fn needs_services(arguments: &[OsString]) -> bool {
    !arguments
        .iter()
        .any(|argument| ["embedded", "--setup=embedded", "--help", "-h"].iter().any(|word| argument == word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(Into::into).collect()
    }

    #[test]
    fn only_production_needs_services() {
        assert!(needs_services(&words("--minutes 2")));
        assert!(needs_services(&words("--minutes 2 --setup production")));
        assert!(!needs_services(&words("--setup embedded")));
        assert!(!needs_services(&words("--setup=embedded")));
        assert!(!needs_services(&words("--help")));
    }

    #[test]
    fn an_option_is_found_in_both_forms() {
        assert!(names(&words("--server target/x"), SERVER) && names(&words("--server=target/x"), SERVER));
        assert!(!names(&words("--seed 3"), SERVER));
    }
}
