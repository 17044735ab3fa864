//! The bill of materials (SBOM): the crates of which the server is made, in CycloneDX.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::archive::copy;
use super::output_of;
use crate::{process, workspace};

/// The version of cargo-cyclonedx.
const VERSION: &str = "0.5.9";
/// Where it is installed, below the target folder.
const INSTALLED: &str = "xtask/cyclonedx";
/// The name of its files, without `.json`. It writes one beside each manifest.
const FILE: &str = "materials";

/// Writes `NAME.cdx.json`.
///
/// It is made of a copy of the workspace, because the files beside the manifests would be left there.
pub(super) fn write(folder: &Path, name: &str) -> Result<PathBuf> {
    let programs = install()?;
    let scratch = tempfile::tempdir()?;
    let source = scratch.path().canonicalize()?;
    copy_workspace(&source)?;
    let mut list = Command::new(programs.join("cargo-cyclonedx"));
    list.arg("cyclonedx").current_dir(&source).args(["--quiet", "--format", "json"]);
    list.args(["--override-filename", FILE, "--manifest-path", "flowsdk-server/Cargo.toml"]);
    list.args(["--target", &host()?]).env("SOURCE_DATE_EPOCH", time_of_commit()?);
    process::must(&mut list)?;
    let written = source.join("flowsdk-server").join(format!("{FILE}.json"));
    let text = fs::read_to_string(&written).with_context(|| format!("{} is missing", written.display()))?;
    let text = without_place(&text, &source)?;
    let path = folder.join(format!("{name}.cdx.json"));
    fs::write(&path, text)?;
    Ok(path)
}

fn install() -> Result<PathBuf> {
    let root = workspace::target().join(INSTALLED);
    let mut install = workspace::cargo();
    install.args(["install", "--quiet", "--locked", "cargo-cyclonedx", "--version", VERSION, "--root"]);
    process::must(install.arg(&root))?;
    Ok(root.join("bin"))
}

/// Copies the files of the workspace that git knows.
fn copy_workspace(to: &Path) -> Result<()> {
    let root = workspace::root();
    let mut list = Command::new("git");
    let names = output_of(list.args(["ls-files", "-z"]).current_dir(&root))?;
    for name in names.split('\0').filter(|name| root.join(name).is_file()) {
        copy(&root.join(name), &to.join(name))?;
    }
    Ok(())
}

/// Returns the triple of this machine: only the crates of its build are listed.
fn host() -> Result<String> {
    let told = output_of(Command::new("rustc").arg("-vV"))?;
    let host = told.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).context("rustc names no host")
}

/// Returns when the commit was made, in seconds: the same commit gives the same file.
fn time_of_commit() -> Result<String> {
    let mut log = Command::new("git");
    log.args(["log", "-1", "--format=%ct"]).current_dir(workspace::root());
    Ok(output_of(&mut log)?.trim().to_owned())
}

/// Returns the text with the workspace at `/flowsdk` instead of where it was copied to.
///
/// # Errors
/// When it names no crate of the workspace: then it is no list of the server.
fn without_place(text: &str, place: &Path) -> Result<String> {
    let place = place.to_string_lossy();
    ensure!(
        text.contains(&format!("{place}/flowsdk-core")),
        "the bill of materials does not name the server's crates"
    );
    Ok(text.replace(&*place, "/flowsdk"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_of_the_copy_is_not_told() {
        let text = r#"{"bom-ref":"path+file:///tmp/x/flowsdk-core#0.1.0","purl":"pkg:cargo/a?download_url=file:///tmp/x/flowsdk"}"#;
        let told = without_place(text, Path::new("/tmp/x")).expect("a list of the server");
        assert!(told.contains("file:///flowsdk/flowsdk-core#0.1.0") && !told.contains("/tmp"), "{told}");
        assert!(without_place("{}", Path::new("/tmp/x")).is_err());
    }
}
