//! `cargo xtask dist`: the server as an archive to download, with its bill of materials and its checksums.

mod archive;
mod build;
mod glibc;
mod linked;
mod materials;
mod trial;

use std::fs;
use std::process::Command;

use anyhow::{Context, Result};

use crate::{interrupt, workspace};

/// Where the files are put, below the target folder.
const FOLDER: &str = "dist";

/// Builds the server for this kind of machine, tries it in an empty folder and packs it.
///
/// Prints the paths of the files to standard output.
pub(crate) fn run() -> Result<u8> {
    let folder = workspace::target().join(FOLDER);
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let program = build::release()?;
    linked::check(&program)?;
    let version = trial::run(&program)?;
    let name = format!("flowsdk-server-{version}-{}", target_name());
    let files = [archive::pack(&program, &folder, &name)?, materials::write(&folder, &name)?];
    let sums = archive::write_sums(&files, &folder, &name)?;
    for file in files.iter().chain([&sums]) {
        println!("{}", file.display());
    }
    Ok(interrupt::exit_code().unwrap_or(0))
}

/// Returns the name of this kind of machine in the names of files, such as `linux-x86_64`.
fn target_name() -> String {
    format!("{}-{}", std::env::consts::OS, std::env::consts::ARCH)
}

/// Runs a program and returns what it wrote to standard output.
///
/// # Errors
/// When it cannot be started, fails, or writes no UTF-8.
fn output_of(command: &mut Command) -> Result<String> {
    let line = crate::process::line(command);
    let output = command.output().with_context(|| format!("cannot start `{line}`"))?;
    anyhow::ensure!(
        output.status.success(),
        "`{line}` failed: {}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).with_context(|| format!("`{line}` wrote no UTF-8"))
}
