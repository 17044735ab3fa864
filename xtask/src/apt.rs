//! Installing Debian packages without starting the services they bring.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::{interrupt, process};

const UPDATE_ATTEMPTS: u32 = 3;
const UPDATE_PAUSE: Duration = Duration::from_secs(10);
const POLICY: &str = "/usr/sbin/policy-rc.d";

/// Returns whether this is a Debian-like machine on which we may install packages.
pub(crate) fn is_usable() -> bool {
    rustix::process::geteuid().is_root()
        && Path::new("/etc/debian_version").exists()
        && Path::new("/usr/bin/apt-get").exists()
}

/// Installs the packages; waits for another apt or dpkg that is at work.
///
/// The packages found afterwards show whether it worked, so that a failure ends in the one explanation.
pub(crate) fn install(packages: &[&str]) -> Result<()> {
    eprintln!("xtask: installing {}", packages.join(" "));
    let _no_services = NoServiceStarts::begin(POLICY)?;
    let code = process::run(
        apt_get("install").args(["-y", "--no-remove", "--no-install-recommends"]).args(packages),
    )?;
    if code != 0 {
        eprintln!("xtask: apt-get could not install them (exit code {code})");
    }
    interrupt::check()
}

/// Brings the package lists up to date; old lists may still do, so a failure is not the end.
pub(crate) fn update() -> Result<()> {
    for attempt in 1..=UPDATE_ATTEMPTS {
        if process::run(&mut apt_get("update"))? == 0 {
            return Ok(());
        }
        interrupt::check()?;
        if attempt < UPDATE_ATTEMPTS {
            thread::sleep(UPDATE_PAUSE);
        }
    }
    eprintln!("xtask: the package lists could not be updated, trying with those at hand");
    Ok(())
}

fn apt_get(verb: &str) -> Command {
    let mut command = Command::new("apt-get");
    command
        .args([
            "-qq",
            "-o",
            "DPkg::Lock::Timeout=300",
            "-o",
            "Dpkg::Use-Pty=0",
            "-o",
            "Acquire::Retries=3",
            verb,
        ])
        .env("DEBIAN_FRONTEND", "noninteractive")
        .env("NEEDRESTART_SUSPEND", "1")
        // The tests' standard output is theirs alone.
        .stdout(io::stderr());
    command
}

/// While it lives, Debian's packages do not start their services. Leaves an existing policy in place.
struct NoServiceStarts {
    /// The policy file, where we wrote it.
    ours: Option<PathBuf>,
}

impl NoServiceStarts {
    fn begin(policy: &str) -> Result<Self> {
        // 101 forbids. Should we die before we remove the file, it forbids nothing any more.
        let script = format!("#!/bin/sh\n[ -d /proc/{} ] && exit 101\nexit 0\n", std::process::id());
        match OpenOptions::new().write(true).create_new(true).mode(0o755).open(policy) {
            Ok(mut file) => {
                let guard = Self { ours: Some(policy.into()) };
                file.write_all(script.as_bytes()).with_context(|| format!("cannot write {policy}"))?;
                Ok(guard)
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(Self { ours: None }),
            Err(error) => Err(error).with_context(|| format!("cannot write {policy}")),
        }
    }
}

impl Drop for NoServiceStarts {
    fn drop(&mut self) {
        if let Some(policy) = &self.ours {
            let _ = fs::remove_file(policy);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_policy_forbids_while_it_stands_and_is_removed() {
        let directory = tempfile::tempdir().expect("a directory");
        let policy = directory.path().join("policy-rc.d");
        let guard = NoServiceStarts::begin(&policy.to_string_lossy()).expect("a policy");
        // Through the shell: a program that was just written may still be open in a forked child of another test.
        let status = Command::new("sh").arg(&policy).status().expect("sh runs");
        assert_eq!(status.code(), Some(101));
        drop(guard);
        assert!(!policy.exists());
    }

    #[test]
    fn an_existing_policy_stays_as_it_is() {
        let directory = tempfile::tempdir().expect("a directory");
        let policy = directory.path().join("policy-rc.d");
        fs::write(&policy, "theirs").expect("a policy");
        drop(NoServiceStarts::begin(&policy.to_string_lossy()).expect("a guard"));
        assert_eq!(fs::read_to_string(&policy).expect("a policy"), "theirs");
    }
}
