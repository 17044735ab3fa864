//! The Python packages that fuzz the HTTP API and make its Python client, in a virtual environment of their own.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use crate::packages::Program;
use crate::process;

/// The file of pinned packages.
const REQUIREMENTS: &str = "flowsdk-server/tests/api/requirements.txt";
/// Where they are installed, below the target folder.
const ENVIRONMENT: &str = "xtask/python";

/// Installs the packages, unless those that are installed are the pinned ones; the folder of their programs.
pub(crate) fn install_stale(python: &Program, root: &Path, target: &Path) -> Result<PathBuf> {
    let requirements = root.join(REQUIREMENTS);
    let environment = target.join(ENVIRONMENT);
    let programs = environment.join("bin");
    let record = environment.join("requirements.txt");
    let wanted = fs::read(&requirements).with_context(|| format!("{} is missing", requirements.display()))?;
    if fs::read(&record).is_ok_and(|installed| installed == wanted) {
        return Ok(programs);
    }
    eprintln!("xtask: installing the packages of {REQUIREMENTS}");
    let mut create = Command::new(&python.path);
    create.args(["-m", "venv", "--clear"]).arg(&environment);
    process::must(create.stdout(io::stderr()))?;
    let mut install = Command::new(programs.join("python"));
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"]).arg(&requirements);
    process::must(install.stdout(io::stderr()))?;
    fs::write(record, wanted)?;
    Ok(programs)
}

/// Debian ships Python without the module for virtual environments.
pub(crate) fn makes_environments(python: &Program) -> bool {
    let mut probe = Command::new(&python.path);
    probe.args(["-c", "import ensurepip, venv"]).stdin(Stdio::null());
    probe.stdout(Stdio::null()).stderr(Stdio::null());
    probe.status().is_ok_and(|status| status.success())
}
