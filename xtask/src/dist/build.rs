//! The release build that is given away.

use std::env;
use std::path::PathBuf;

use anyhow::{Context, Result};

use super::glibc;
use crate::packages::{self, Need};
use crate::python::Environment;
use crate::{process, workspace};

/// The linker for an older glibc, from PyPI.
const LINKER: Environment =
    Environment { requirements: "xtask/src/dist/requirements.txt", folder: "xtask/linker" };
const SERVER: [&str; 6] = ["--release", "--locked", "--package", "flowsdk-server", "--bin", "flowsdk-server"];

/// Builds the server and returns its path.
///
/// On Linux the program runs with every glibc from [`glibc::OLDEST`] on, whatever this machine has. Elsewhere it is
/// a plain release build.
pub(super) fn release() -> Result<PathBuf> {
    if cfg!(target_os = "linux") { for_old_glibc() } else { plain() }
}

fn plain() -> Result<PathBuf> {
    process::must(workspace::cargo().arg("build").args(SERVER))?;
    Ok(workspace::target().join("release/flowsdk-server"))
}

fn for_old_glibc() -> Result<PathBuf> {
    let found = packages::ensure(&[Need::Python], &[])?;
    let python = found.python.context("python3 is missing")?;
    let programs = LINKER.install_stale(&python)?;
    let path = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths([programs].into_iter().chain(env::split_paths(&path)))?;
    let triple = format!("{}-unknown-linux-gnu", env::consts::ARCH);
    let mut build = workspace::cargo();
    build.env("PATH", path).arg("zigbuild").args(SERVER);
    build.arg("--target").arg(format!("{triple}.{}", glibc::OLDEST));
    process::must(&mut build)?;
    Ok(workspace::target().join(triple).join("release/flowsdk-server"))
}
