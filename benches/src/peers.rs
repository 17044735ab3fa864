//! The peers that run on Node.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

/// Where their packages are.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("peers")
}

/// Installs the packages, unless the installation is newer than the lock file.
///
/// # Errors
/// There is no Node, or the packages cannot be installed: the race goes on without these peers.
pub(crate) fn install() -> Result<()> {
    let folder = folder();
    let time = |name: &str| folder.join(name).metadata().and_then(|data| data.modified()).ok();
    if time("node_modules/.package-lock.json") < time("package-lock.json") {
        eprintln!("flowsdk-benches: installing the peers");
        run(Command::new("npm").args(["ci", "--no-audit", "--no-fund"]).current_dir(&folder))?;
    }
    // A native module that was built for another Node is found out here.
    let native = "require('better-sqlite3'); require('bcrypt')";
    run(Command::new("node").args(["-e", native]).current_dir(&folder))
}

fn run(command: &mut Command) -> Result<()> {
    let name = command.get_program().to_owned();
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status();
    let status = status.with_context(|| format!("cannot start {}", name.display()))?;
    if !status.success() {
        bail!("{} failed: {status}", name.display());
    }
    Ok(())
}
