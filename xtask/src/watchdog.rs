//! The last resort: cleans up when this process is killed so hard that it cannot do so itself.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};

/// Waits for the end of its standard input, whose only writer is this process.
const SCRIPT: &str = r#"
read -r _
kill -s "$1" -- "$2" 2>/dev/null
[ -n "$3" ] || exit 0
tries=0
while kill -s 0 -- "$2" 2>/dev/null && [ "$tries" -lt 10 ]; do tries=$((tries + 1)); sleep 1; done
kill -s KILL -- "$2" 2>/dev/null
rm -rf -- "$3"
"#;

/// While it lives, the death of this process ends the process it guards; dropped, it does nothing.
pub(crate) struct Watchdog {
    shell: Child,
}

impl Watchdog {
    /// Guards the process group led by `pid`.
    pub(crate) fn over_group(pid: u32) -> Result<Self> {
        Self::spawn("KILL", &format!("-{pid}"), Path::new(""))
    }

    /// Guards the service `pid`, which ends on `signal` (a name without SIG), and its directory.
    pub(crate) fn over_service(pid: u32, signal: &str, directory: &Path) -> Result<Self> {
        Self::spawn(signal, &pid.to_string(), directory)
    }

    fn spawn(signal: &str, target: &str, directory: &Path) -> Result<Self> {
        let shell = Command::new("/bin/sh")
            .args(["-c", SCRIPT, "watchdog", signal, target])
            .arg(directory)
            .current_dir("/")
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("cannot start a watchdog")?;
        Ok(Self { shell })
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        // Killed before `wait` closes its input, or it would take the closing for our death.
        let _ = self.shell.kill();
        let _ = self.shell.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dismissed_watchdog_leaves_its_charge_alone() {
        let mut charge = Command::new("sleep").arg("30").spawn().expect("sleep starts");
        let directory = tempfile::tempdir().expect("a directory");
        drop(Watchdog::over_service(charge.id(), "TERM", directory.path()).expect("a watchdog"));
        assert!(charge.try_wait().expect("a status").is_none());
        assert!(directory.path().exists());
        charge.kill().expect("sleep ends");
        charge.wait().expect("sleep is reaped");
    }

    #[test]
    fn the_end_of_its_input_makes_it_act() {
        let mut charge = Command::new("sleep").arg("30").spawn().expect("sleep starts");
        let directory = tempfile::tempdir().expect("a directory");
        let mut watchdog = Watchdog::over_service(charge.id(), "TERM", directory.path()).expect("a watchdog");
        drop(watchdog.shell.stdin.take());
        assert!(!charge.wait().expect("sleep ends").success());
        assert!(watchdog.shell.wait().is_ok());
        assert!(!directory.path().exists());
    }
}
