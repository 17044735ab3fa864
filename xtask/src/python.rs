//! Python packages that chores need, in virtual environments of their own.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use crate::packages::Program;
use crate::{process, workspace};

/// Pinned packages and where they are installed.
pub(crate) struct Environment {
    /// The file of the packages, below the root of the workspace.
    pub(crate) requirements: &'static str,
    /// Their virtual environment, below the target folder.
    pub(crate) folder: &'static str,
}

/// What the tests of the HTTP API and the Python client need.
pub(crate) const OF_TESTS: Environment =
    Environment { requirements: "flowsdk-server/tests/api/requirements.txt", folder: "xtask/python" };

/// A PostgreSQL with pgvector.
pub(crate) const PGVECTOR: Environment =
    Environment { requirements: "xtask/pgvector.txt", folder: "xtask/pgvector" };

impl Environment {
    /// Returns the folder of the packages of an environment that is installed.
    pub(crate) fn packages(&self) -> Result<PathBuf> {
        let versions = workspace::target().join(self.folder).join("lib");
        let mut folders = versions.read_dir()?.flatten().map(|version| version.path().join("site-packages"));
        folders.find(|folder| folder.is_dir()).context("the environment has no packages")
    }

    /// Installs the packages, unless those that are installed are the pinned ones. Returns the folder of their programs.
    pub(crate) fn install_stale(&self, python: &Program) -> Result<PathBuf> {
        let requirements = workspace::root().join(self.requirements);
        let environment = workspace::target().join(self.folder);
        let programs = environment.join("bin");
        let record = environment.join("requirements.txt");
        let wanted =
            fs::read(&requirements).with_context(|| format!("{} is missing", requirements.display()))?;
        if fs::read(&record).is_ok_and(|installed| installed == wanted) {
            return Ok(programs);
        }
        eprintln!("xtask: installing the packages of {}", self.requirements);
        let mut create = Command::new(&python.path);
        create.args(["-m", "venv", "--clear"]).arg(&environment);
        process::must(create.stdout(io::stderr()))?;
        let mut install = Command::new(programs.join("python"));
        install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"]);
        process::must(install.arg(&requirements).stdout(io::stderr()))?;
        fs::write(record, wanted)?;
        Ok(programs)
    }
}

/// Debian ships Python without the module for virtual environments.
pub(crate) fn makes_environments(python: &Program) -> bool {
    let mut probe = Command::new(&python.path);
    probe.args(["-c", "import ensurepip, venv"]).stdin(Stdio::null());
    probe.stdout(Stdio::null()).stderr(Stdio::null());
    probe.status().is_ok_and(|status| status.success())
}
