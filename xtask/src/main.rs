//! `cargo xtask`: the chores of this workspace.
//!
//! Everything this program says itself goes to standard error, so that standard output belongs to the
//! program it runs and the test runner's summary ends the output.

mod apt;
mod bench;
mod ci;
#[cfg(test)]
mod deployment;
mod dist;
mod features;
mod interrupt;
mod npm;
mod packages;
mod process;
mod python;
mod services;
mod shape;
mod soak;
mod test;
mod version;
mod watchdog;
mod workspace;

use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Parser, Subcommand};

use crate::packages::Need;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "The chores of this workspace", disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Run every test, with a private PostgreSQL and Redis, a browser and Node
    Test {
        #[command(flatten)]
        scope: Scope,
        /// Further arguments of `cargo test`, for example `-- -p flowsdk-store -- --nocapture`
        #[arg(last = true)]
        arguments: Vec<String>,
    },
    /// Run a command with the private PostgreSQL and Redis of the tests
    Services {
        #[command(flatten)]
        scope: Scope,
        /// The command; the addresses are in FLOWSDK_TEST_POSTGRES, FLOWSDK_TEST_PGVECTOR and FLOWSDK_TEST_REDIS
        #[arg(last = true, required = true)]
        command: Vec<OsString>,
    },
    /// Check all that CI checks: format, lints, docs, features, fuzz targets, web bundle, dependencies, tests
    Ci {
        #[command(flatten)]
        scope: Scope,
    },
    /// Build the server to give away: an archive, its bill of materials and checksums, in `target/dist`
    Dist,
    /// Count the structure of the workspace: lines, modules in a knot, macros, wording
    Shape {
        /// Count the files and places that a commit touches instead
        #[arg(long, value_name = "COMMIT")]
        commit: Option<String>,
    },
    /// Race the release build of the server, for example `cargo xtask bench webchat --rounds 3`
    Bench {
        /// The race and its options; `cargo xtask bench help` lists them
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true, value_name = "RACE")]
        arguments: Vec<OsString>,
    },
    /// Break the server for a long time and check every invariant, for example `cargo xtask soak --minutes 60`
    Soak {
        /// The options of the soak: `--minutes N`, `--seed S`, `--setup embedded|production` and others
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true, value_name = "OPTIONS")]
        arguments: Vec<OsString>,
    },
}

#[derive(Args)]
struct Scope {
    /// Do without these; the tests that need them are skipped
    #[arg(long, value_enum, value_delimiter = ',', value_name = "NEEDS")]
    without: Vec<Need>,
}

fn main() -> ExitCode {
    match run(Cli::parse()) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::from(interrupt::exit_code().unwrap_or(1))
        }
    }
}

fn run(cli: Cli) -> Result<u8> {
    interrupt::watch()?;
    match cli.chore {
        Chore::Test { scope, arguments } => test::run(&scope.without, &arguments),
        Chore::Services { scope, command } => services::run_command(&scope.without, &command),
        Chore::Ci { scope } => ci::run(&scope.without),
        Chore::Dist => dist::run(),
        Chore::Shape { commit } => shape::run(commit.as_deref()),
        Chore::Bench { arguments } => bench::run(&arguments),
        Chore::Soak { arguments } => soak::run(&arguments),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn what_follows_the_first_dashes_is_passed_on_with_later_dashes() {
        let cli = Cli::parse_from([
            "xtask",
            "test",
            "--without",
            "browser,node",
            "--",
            "-p",
            "x",
            "--",
            "--nocapture",
        ]);
        let Chore::Test { scope, arguments } = cli.chore else { panic!("not the test chore") };
        assert_eq!(scope.without, [Need::Browser, Need::Node]);
        assert_eq!(arguments, ["-p", "x", "--", "--nocapture"]);
    }

    #[test]
    fn a_race_takes_its_own_options() {
        let cli = Cli::parse_from(["xtask", "bench", "webchat", "--rounds", "3", "--json"]);
        let Chore::Bench { arguments } = cli.chore else { panic!("not the bench chore") };
        assert_eq!(arguments, ["webchat", "--rounds", "3", "--json"]);
    }

    #[test]
    fn services_want_a_command() {
        assert!(Cli::try_parse_from(["xtask", "services"]).is_err());
    }
}
