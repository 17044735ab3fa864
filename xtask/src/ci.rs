//! `cargo xtask ci`: all that CI checks, cheap checks first, the tests last.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::packages::{self, Found, Need, Program};
use crate::{features, interrupt, npm, process, test, workspace};

/// The output file of the web bundle.
const ASSETS: &str = "flowsdk-server/assets";

/// The manifest of the fuzz targets.
const FUZZ: &str = "fuzz/Cargo.toml";

enum Outcome {
    Passed,
    Skipped(&'static str),
}

pub(crate) fn run(without: &[Need]) -> Result<u8> {
    check("format", format)?;
    check("lock files", lock_files)?;
    let found = packages::ensure(&Need::ALL, without)?;
    check("lints", lints)?;
    check("docs", docs)?;
    check("features", || features::check(&workspace::root()).map(|()| Outcome::Passed))?;
    check("fuzz targets", fuzz_targets)?;
    check("web bundle", || web_bundle(&found, &workspace::root()))?;
    check("dependencies", dependencies)?;
    check("advisories", advisories)?;
    eprintln!("xtask: checking tests");
    test::run_with(&found, &[])
}

fn check(name: &str, step: impl FnOnce() -> Result<Outcome>) -> Result<()> {
    eprintln!("xtask: checking {name}");
    let start = Instant::now();
    match step().with_context(|| format!("the check of {name} failed"))? {
        Outcome::Passed => eprintln!("xtask: {name} passed after {} s", start.elapsed().as_secs()),
        Outcome::Skipped(reason) => eprintln!("xtask: {name} SKIPPED: {reason}"),
    }
    interrupt::check()
}

fn format() -> Result<Outcome> {
    process::must(workspace::cargo().args(["fmt", "--all", "--check"]))?;
    Ok(Outcome::Passed)
}

/// A lock file that is behind its manifests would be refused by a later check only, after minutes.
fn lock_files() -> Result<Outcome> {
    for manifest in ["Cargo.toml", FUZZ] {
        let arguments = ["tree", "--locked", "--quiet", "--depth", "0", "--manifest-path", manifest];
        process::must(workspace::cargo().args(arguments).stdout(Stdio::null()))?;
    }
    Ok(Outcome::Passed)
}

fn lints() -> Result<Outcome> {
    let arguments = ["clippy", "--workspace", "--all-targets", "--all-features", "--", "-D", "warnings"];
    process::must(workspace::cargo().args(arguments))?;
    Ok(Outcome::Passed)
}

fn docs() -> Result<Outcome> {
    let arguments = ["doc", "--workspace", "--no-deps", "--all-features"];
    process::must(workspace::cargo().args(arguments).env("RUSTDOCFLAGS", "-D warnings"))?;
    Ok(Outcome::Passed)
}

/// They are a workspace of their own, which no other check compiles.
fn fuzz_targets() -> Result<Outcome> {
    let arguments = ["check", "--locked", "--manifest-path", FUZZ, "--features", "server", "--target-dir"];
    process::must(workspace::cargo().args(arguments).arg(workspace::target()))?;
    Ok(Outcome::Passed)
}

/// The server embeds a committed bundle, so that building it needs no Node: it must match its sources.
fn web_bundle(found: &Found, root: &Path) -> Result<Outcome> {
    let web = root.join(npm::WEB);
    if !web.join("package-lock.json").is_file() {
        return Ok(Outcome::Skipped("there are no web sources"));
    }
    let Some(npm) = &found.npm else {
        return Ok(Outcome::Skipped("Node was left out"));
    };
    if !is_checkout(root) {
        return Ok(Outcome::Skipped("this is no git checkout"));
    }
    rebuild(npm, &web)?;
    process::must(git(root).args(["diff", "--exit-code", "--stat", "--", ASSETS])).with_context(|| {
        format!("{ASSETS} is not what {} gives: run `npm run build` there and commit", npm::WEB)
    })?;
    let untracked = git(root).args(["ls-files", "--others", "--exclude-standard", "--", ASSETS]).output()?;
    if !untracked.status.success() || !untracked.stdout.is_empty() {
        bail!(
            "the build makes files that are not committed:\n{}",
            String::from_utf8_lossy(&untracked.stdout)
        );
    }
    Ok(Outcome::Passed)
}

fn rebuild(npm: &Program, web: &Path) -> Result<()> {
    process::must(&mut npm::clean_install(npm, web))?;
    process::must(&mut npm::script(npm, web, "build"))
}

fn is_checkout(root: &Path) -> bool {
    let mut command = git(root);
    command.args(["rev-parse", "--git-dir"]).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

fn git(root: &Path) -> Command {
    let mut command = Command::new("git");
    command.args(["--no-pager"]).current_dir(root);
    command
}

/// Licences, banned crates and sources, as `deny.toml` states them.
fn dependencies() -> Result<Outcome> {
    if !has_deny() {
        return Ok(Outcome::Skipped(NO_DENY));
    }
    process::must(workspace::cargo().args(["deny", "check", "licenses", "bans", "sources"]))?;
    Ok(Outcome::Passed)
}

/// Known faults of the dependencies, if the database of advisories can be had.
fn advisories() -> Result<Outcome> {
    if !has_deny() {
        return Ok(Outcome::Skipped(NO_DENY));
    }
    if !workspace::cargo().args(["deny", "fetch", "db"]).status().is_ok_and(|status| status.success()) {
        return Ok(Outcome::Skipped("the database of advisories cannot be fetched"));
    }
    process::must(workspace::cargo().args(["deny", "check", "--disable-fetch", "advisories"]))?;
    Ok(Outcome::Passed)
}

const NO_DENY: &str = "cargo-deny is not installed (`cargo install --locked cargo-deny`)";

fn has_deny() -> bool {
    let mut probe = workspace::cargo();
    probe.args(["deny", "--version"]).stdout(Stdio::null()).stderr(Stdio::null());
    probe.status().is_ok_and(|status| status.success())
}
