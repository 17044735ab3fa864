//! `cargo xtask test`: every test, with all it needs.

use anyhow::Result;

use crate::packages::{self, Found, Need};
use crate::services::Services;
use crate::{interrupt, npm, process, python, workspace};

/// How many tests of a program run at once, for the test runner.
const THREADS: &str = "RUST_TEST_THREADS";

/// Twice as many tests as processors: those of the server wait for clocks, disks and each other for half of their time.
fn threads() -> usize {
    2 * std::thread::available_parallelism().map_or(1, usize::from)
}

pub(crate) fn run(without: &[Need], arguments: &[String]) -> Result<u8> {
    let found = packages::ensure(&Need::ALL, without)?;
    run_with(&found, arguments)
}

/// Runs the tests with the programs found; the last lines of the output are the test runner's.
pub(crate) fn run_with(found: &Found, arguments: &[String]) -> Result<u8> {
    if let Some(npm) = &found.npm {
        npm::install_stale(npm, &workspace::root())?;
    }
    let programs = found.python.as_ref().map(|python| python::OF_TESTS.install_stale(python)).transpose()?;
    let mut services = Services::start(found)?;
    let mut command = workspace::cargo();
    command.args(cargo_arguments(arguments));
    services.announce(&mut command);
    command.env_remove("FLOWSDK_TEST_NODE").env_remove("FLOWSDK_TEST_CHROMIUM");
    command.env_remove("FLOWSDK_TEST_PYTHON");
    if std::env::var_os(THREADS).is_none() {
        command.env(THREADS, threads().to_string());
    }
    if found.node.is_some() {
        command.env("FLOWSDK_TEST_NODE", "1");
    }
    if let Some(programs) = programs {
        command.env("FLOWSDK_TEST_PYTHON", programs);
    }
    if let Some(browser) = &found.browser {
        command.env("FLOWSDK_TEST_CHROMIUM", &browser.path);
    }
    eprintln!("xtask: running {}", process::line(&command));
    let code = process::run(&mut command)?;
    services.report_deaths();
    Ok(interrupt::exit_code().unwrap_or(code))
}

/// All tests of all crates, unless the caller chose crates.
fn cargo_arguments(extra: &[String]) -> Vec<String> {
    let for_cargo = extra.split(|argument| argument == "--").next().unwrap_or_default();
    let has = |name: &str| for_cargo.iter().any(|a| a == name || a.starts_with(&format!("{name}=")));
    let chosen = ["--package", "--workspace", "--all", "--manifest-path"].iter().any(|name| has(name))
        || for_cargo.iter().any(|argument| argument.starts_with("-p"));
    let mut arguments = vec!["test"];
    if !chosen {
        arguments.push("--workspace");
    }
    if !["--all-features", "--no-default-features", "--features"].iter().any(|name| has(name)) {
        arguments.push("--all-features");
    }
    // One failure shall not hide the tests after it.
    if !["--no-fail-fast", "--no-run"].iter().any(|name| has(name)) {
        arguments.push("--no-fail-fast");
    }
    arguments.into_iter().map(str::to_owned).chain(extra.iter().cloned()).collect()
}

#[cfg(test)]
mod tests {
    use super::cargo_arguments;

    fn line(extra: &str) -> String {
        let extra: Vec<String> = extra.split_whitespace().map(str::to_owned).collect();
        cargo_arguments(&extra).join(" ")
    }

    #[test]
    fn everything_is_tested_by_default() {
        assert_eq!(line(""), "test --workspace --all-features --no-fail-fast");
        assert_eq!(
            line("tickets -- --nocapture"),
            "test --workspace --all-features --no-fail-fast tickets -- --nocapture"
        );
    }

    #[test]
    fn the_callers_choice_wins() {
        assert_eq!(line("-p flowsdk-store"), "test --all-features --no-fail-fast -p flowsdk-store");
        assert_eq!(
            line("--package=flowsdk-store"),
            "test --all-features --no-fail-fast --package=flowsdk-store"
        );
        assert_eq!(line("--no-default-features"), "test --workspace --no-fail-fast --no-default-features");
        assert_eq!(line("--no-fail-fast"), "test --workspace --all-features --no-fail-fast");
    }

    #[test]
    fn arguments_of_the_test_programs_choose_nothing() {
        assert_eq!(line("-- -p"), "test --workspace --all-features --no-fail-fast -- -p");
    }
}
