//! The private PostgreSQL and Redis of the tests: started on free ports, gone afterwards.

mod postgres;
mod redis;

use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::interrupt;
use crate::packages::{self, Found, Need};
use crate::process::{self, POLL};
use crate::python;
use crate::watchdog::Watchdog;
use crate::workspace;

/// A service that does not answer by then has failed.
const START_LIMIT: Duration = Duration::from_secs(60);
/// How long each of a service's ways to stop may take.
const STOP_LIMIT: Duration = Duration::from_secs(10);
/// The file system in memory of Linux.
const MEMORY: &str = "/dev/shm";
/// The bytes that must be free in memory: more than twice what all tests leave there at a time.
const ROOM: u64 = 6 << 30;
/// Another program may take the free port before the service does.
const START_ATTEMPTS: u32 = 3;

/// The services that run; dropping it stops them.
pub(crate) struct Services {
    running: Vec<Service>,
    variables: Vec<(&'static str, String)>,
}

impl Services {
    /// Starts those of the services that were found.
    pub(crate) fn start(found: &Found) -> Result<Self> {
        let mut services = Self { running: Vec::new(), variables: Vec::new() };
        if let Some(program) = &found.postgres {
            let service = retry(|| postgres::start(program))?;
            services.add(service, "FLOWSDK_TEST_POSTGRES", |port| {
                format!("postgres://postgres@127.0.0.1:{port}/postgres")
            });
        }
        if let Some(python) = &found.vectors {
            python::PGVECTOR.install_stale(python)?;
            let packages = python::PGVECTOR.packages()?;
            let service = retry(|| postgres::start_with_vectors(&packages))?;
            services.add(service, "FLOWSDK_TEST_PGVECTOR", |port| {
                format!("postgres://postgres@127.0.0.1:{port}/postgres")
            });
        }
        if let Some(program) = &found.redis {
            let service = retry(|| redis::start(program))?;
            services.add(service, "FLOWSDK_TEST_REDIS", |port| format!("redis://127.0.0.1:{port}"));
        }
        Ok(services)
    }

    /// Tells a program where the services are, and nothing about others that the caller's environment names.
    pub(crate) fn announce(&self, command: &mut Command) {
        for name in ["FLOWSDK_TEST_POSTGRES", "FLOWSDK_TEST_PGVECTOR", "FLOWSDK_TEST_REDIS"] {
            command.env_remove(name);
        }
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
    }

    /// Says so when a service died under the tests: that explains their failures.
    pub(crate) fn report_deaths(&mut self) {
        for service in &mut self.running {
            if let Ok(Some(status)) = service.child.try_wait() {
                eprintln!("xtask: {} died while in use ({status})\n{}", service.name, service.log_tail());
            }
        }
    }

    fn add(&mut self, service: Service, variable: &'static str, address: impl Fn(u16) -> String) {
        eprintln!("xtask: started {} on port {}", service.name, service.port);
        self.variables.push((variable, address(service.port)));
        self.running.push(service);
    }
}

/// Runs `cargo xtask services`.
pub(crate) fn run_command(without: &[Need], words: &[OsString]) -> Result<u8> {
    let (program, arguments) = words.split_first().ok_or_else(|| anyhow!("no command given"))?;
    let found = packages::ensure(&Need::SERVICES, without)?;
    let mut services = Services::start(&found)?;
    let mut command = Command::new(program);
    command.args(arguments);
    workspace::forget_cargo_run(&mut command);
    services.announce(&mut command);
    let code = process::run_interactively(&mut command)?;
    services.report_deaths();
    Ok(code)
}

/// One running service and its directory.
struct Service {
    name: &'static str,
    child: Child,
    port: u16,
    /// The ways to stop it, from kind to unkind.
    stop: &'static [Signal],
    // Dropped in this order, after the service has stopped.
    _watchdog: Watchdog,
    directory: TempDir,
}

/// How to start and to stop a service.
struct Plan {
    name: &'static str,
    port: u16,
    stop: &'static [Signal],
    /// The name, without SIG, of the signal that ends it at once.
    quick_stop: &'static str,
    directory: TempDir,
}

impl Plan {
    /// Starts the service and waits until it is ready.
    fn start(self, command: &mut Command, is_ready: impl Fn(&Path, u16) -> bool) -> Result<Service> {
        use std::os::unix::process::CommandExt;
        let log = File::create(self.directory.path().join("log"))?;
        command
            .current_dir(self.directory.path())
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            // Ctrl-C is for us: the tests shall not lose their database while they wind up.
            .process_group(0);
        let mut child = command.spawn().with_context(|| format!("cannot start {}", self.name))?;
        let watchdog = match Watchdog::over_service(child.id(), self.quick_stop, self.directory.path()) {
            Ok(watchdog) => watchdog,
            Err(error) => {
                let _ = child.kill().and_then(|()| child.wait());
                return Err(error);
            }
        };
        let Self { name, port, stop, directory, .. } = self;
        let mut service = Service { name, child, port, stop, _watchdog: watchdog, directory };
        service.wait_until(is_ready)?;
        Ok(service)
    }
}

impl Service {
    fn wait_until(&mut self, is_ready: impl Fn(&Path, u16) -> bool) -> Result<()> {
        let deadline = Instant::now() + START_LIMIT;
        loop {
            interrupt::check()?;
            if let Some(status) = self.child.try_wait()? {
                bail!("{} ended at its start ({status})\n{}", self.name, self.log_tail());
            }
            if is_ready(self.directory.path(), self.port) {
                return Ok(());
            }
            if Instant::now() > deadline {
                bail!("{} was not ready after {START_LIMIT:?}\n{}", self.name, self.log_tail());
            }
            thread::sleep(POLL);
        }
    }

    fn log_tail(&self) -> String {
        let log = fs::read(self.directory.path().join("log")).unwrap_or_default();
        let log = String::from_utf8_lossy(&log);
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(20)..].join("\n")
    }

    fn ends_within(&mut self, limit: Duration) -> bool {
        let deadline = Instant::now() + limit;
        while Instant::now() < deadline {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return true;
            }
            thread::sleep(POLL);
        }
        false
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let pid = Pid::from_child(&self.child);
        for signal in self.stop {
            // Reaped already: the number may be another program's by now.
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            let _ = kill_process(pid, *signal);
            if self.ends_within(STOP_LIMIT) {
                return;
            }
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn retry(start: impl Fn() -> Result<Service>) -> Result<Service> {
    let mut attempt = 1;
    loop {
        match start() {
            Err(error) if attempt < START_ATTEMPTS && interrupt::count() == 0 => {
                eprintln!("xtask: {error:#}; trying again");
                attempt += 1;
            }
            result => return result,
        }
    }
}

/// A directory in memory where there is room: each database of the tests is hundreds of files, which a disk creates and
/// deletes for a quarter of their time.
fn new_directory(service: &str) -> Result<TempDir> {
    let parent = if room(MEMORY) >= ROOM { PathBuf::from(MEMORY) } else { env::temp_dir() };
    let prefix = format!("flowsdk-{service}-");
    tempfile::Builder::new().prefix(&prefix).tempdir_in(parent).context("cannot create a temporary directory")
}

/// The bytes that fit on the file system of `path`; none where there is no such path.
fn room(path: &str) -> u64 {
    rustix::fs::statvfs(path).map_or(0, |system| system.f_bavail.saturating_mul(system.f_frsize))
}

fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Plan {
        let directory = new_directory("test").expect("a directory");
        Plan { name: "sleep", port: 1, stop: &[Signal::TERM], quick_stop: "TERM", directory }
    }

    #[test]
    fn a_dropped_service_is_gone_with_its_directory() {
        let service = plan().start(Command::new("sleep").arg("60"), |_, _| true).expect("it starts");
        let (pid, directory) = (service.child.id(), service.directory.path().to_path_buf());
        assert!(directory.exists());
        drop(service);
        assert!(!directory.exists());
        assert!(!Path::new(&format!("/proc/{pid}")).exists());
    }

    #[test]
    fn a_file_system_that_is_not_there_has_no_room() {
        assert!(room("/") > 0);
        assert_eq!(room("/no such file system"), 0);
    }

    #[test]
    fn a_panic_stops_the_services_too() {
        let directory = std::sync::Mutex::new(None);
        let panic = std::panic::catch_unwind(|| {
            let service = plan().start(Command::new("sleep").arg("60"), |_, _| true).expect("it starts");
            *directory.lock().expect("a lock") = Some(service.directory.path().to_path_buf());
            std::panic::resume_unwind(Box::new("on purpose"));
        });
        assert!(panic.is_err());
        let directory = directory.into_inner().expect("a lock").expect("a service");
        assert!(!directory.exists());
    }

    #[test]
    fn an_early_end_is_told_with_the_log() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo no luck >&2; exit 3"]);
        let error = plan().start(&mut command, |_, _| false).err().expect("it fails");
        assert!(error.to_string().contains("no luck"), "{error}");
    }

    #[test]
    fn a_failed_start_is_tried_again() {
        let calls = std::cell::Cell::new(0);
        let result = retry(|| {
            calls.set(calls.get() + 1);
            if calls.get() < START_ATTEMPTS {
                bail!("port taken");
            }
            plan().start(Command::new("sleep").arg("60"), |_, _| true)
        });
        assert!(result.is_ok());
        assert_eq!(calls.get(), START_ATTEMPTS);
    }
}
