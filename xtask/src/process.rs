//! Running other programs so that a signal to this one ends them too, in good order.

use std::io::{self, IsTerminal};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::interrupt;
use crate::watchdog::Watchdog;

/// How often a running program and the signals are looked at.
pub(crate) const POLL: Duration = Duration::from_millis(20);
/// How long an interrupted program may take to end before it is killed.
const GRACE: Duration = Duration::from_secs(10);

/// Runs a program in a process group of its own, without input, and ends whatever it leaves behind there.
///
/// Cargo does not pass signals on to the tests it runs, hence the group.
pub(crate) fn run(command: &mut Command) -> Result<u8> {
    interrupt::check()?;
    let mut child = spawn(command.stdin(Stdio::null()).process_group(0))?;
    let group = Pid::from_child(&child);
    let _watchdog = Watchdog::over_group(child.id())?;
    let status = wait(&mut child, |signal| {
        let _ = kill_process_group(group, signal);
    });
    let _ = kill_process_group(group, Signal::KILL);
    Ok(exit_code(status?))
}

/// Runs a program that owns the terminal, such as a shell or `psql`.
///
/// The terminal itself sends such a program its Ctrl-C, which need not mean the end to it.
pub(crate) fn run_interactively(command: &mut Command) -> Result<u8> {
    interrupt::check()?;
    let mut child = spawn(command)?;
    let pid = Pid::from_child(&child);
    let terminal = io::stdin().is_terminal();
    let status = if terminal {
        wait_through_ctrl_c(&mut child, pid)
    } else {
        wait(&mut child, |signal| {
            let _ = kill_process(pid, signal);
        })
    };
    Ok(exit_code(status?))
}

/// Runs a program as a step that must succeed.
pub(crate) fn must(command: &mut Command) -> Result<()> {
    let code = run(command)?;
    interrupt::check()?;
    if code != 0 {
        bail!("`{}` failed with exit code {code}", line(command));
    }
    Ok(())
}

/// The command as one would type it.
pub(crate) fn line(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or_default();
    let words = std::iter::once(program).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

fn spawn(command: &mut Command) -> Result<Child> {
    command.spawn().with_context(|| format!("cannot start `{}`", line(command)))
}

/// Waits, passing on the first signal; a second signal or the end of the grace period kills.
fn wait(child: &mut Child, send: impl Fn(Signal)) -> io::Result<ExitStatus> {
    let mut deadline = None;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        match (deadline, interrupt::last()) {
            (None, Some(signal)) => {
                send(signal);
                deadline = Some(Instant::now() + GRACE);
            }
            (Some(end), _) if interrupt::count() > 1 || Instant::now() > end => send(Signal::KILL),
            _ => {}
        }
        thread::sleep(POLL);
    }
}

fn wait_through_ctrl_c(child: &mut Child, pid: Pid) -> io::Result<ExitStatus> {
    let mut passed_on = 0;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        let count = interrupt::count();
        if count > passed_on {
            passed_on = count;
            if let Some(signal) = interrupt::last().filter(|signal| *signal != Signal::INT) {
                let _ = kill_process(pid, signal);
            }
        }
        thread::sleep(POLL);
    }
}

fn exit_code(status: ExitStatus) -> u8 {
    let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
    u8::try_from(code).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn the_exit_code_is_passed_on() {
        assert_eq!(run(&mut shell("exit 7")).expect("sh runs"), 7);
        assert!(must(&mut shell("exit 7")).is_err());
        assert!(must(&mut shell("exit 0")).is_ok());
    }

    #[test]
    fn death_by_signal_counts_as_shells_do() {
        assert_eq!(run(&mut shell("kill -KILL $$")).expect("sh runs"), 137);
    }

    #[test]
    fn stragglers_of_the_group_are_ended() {
        let directory = tempfile::tempdir().expect("a directory");
        let pid_file = directory.path().join("pid");
        run(&mut shell(&format!("sleep 60 & echo $! > {}", pid_file.display()))).expect("sh runs");
        let pid = std::fs::read_to_string(pid_file).expect("a pid");
        let alive = format!("kill -0 {} 2>/dev/null", pid.trim());
        let deadline = Instant::now() + Duration::from_secs(5);
        while run(&mut shell(&alive)).expect("sh runs") == 0 {
            assert!(Instant::now() < deadline, "the straggler still runs");
            thread::sleep(POLL);
        }
    }
}
