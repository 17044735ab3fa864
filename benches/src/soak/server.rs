//! A server process that is broken on purpose: started, killed, paused, stopped, started again.

use std::collections::HashMap;
use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use rustix::process::{Pid, Signal, kill_process};

use super::record::Sample;
use crate::webchat::seed::CRYPTO_SECRET;
use crate::{machine, process};

/// The administrator of the servers.
pub(super) const ADMIN: &str = "admin@soak.example";
pub(super) const PASSWORD: &str = "the password of the soak";
/// How long a server may take to become ready, or to stop.
const PATIENCE: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(20);

/// The processes that run, by the name of their server: their ids, and since when.
#[derive(Debug, Clone, Default)]
pub(super) struct Roster(Arc<Mutex<HashMap<String, (u32, Instant)>>>);

impl Roster {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, (u32, Instant)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at every process that runs.
    pub(super) fn sample(&self) -> Vec<Sample> {
        let running = self.lock().clone();
        running.into_iter().filter_map(|(name, (pid, since))| look(&name, pid, since)).collect()
    }
}

fn look(name: &str, pid: u32, since: Instant) -> Option<Sample> {
    let count = |what: &str| Some(fs::read_dir(format!("/proc/{pid}/{what}")).ok()?.count() as u64);
    Some(Sample {
        server: name.to_owned(),
        age: i64::try_from(since.elapsed().as_millis()).ok()?,
        rss_kib: machine::resident_kib(pid).ok()?,
        files: count("fd")?,
        threads: count("task")?,
    })
}

/// The log of one process, and by how many seconds its clock was ahead.
#[derive(Debug, Clone)]
pub(super) struct Log {
    pub(super) file: PathBuf,
    pub(super) ahead: i64,
}

/// A server. Dropping it kills its process.
pub(super) struct Server {
    name: String,
    pub(super) address: SocketAddr,
    program: PathBuf,
    environment: Vec<(&'static str, String)>,
    folder: PathBuf,
    /// The library that shifts the clock of a process.
    faketime: Option<PathBuf>,
    child: Option<Child>,
    roster: Roster,
    pub(super) logs: Vec<Log>,
}

impl Server {
    /// A server that does not run yet, on a port of its own.
    pub(super) fn new(
        name: &str,
        program: &Path,
        folder: &Path,
        roster: &Roster,
        faketime: Option<&Path>,
        mut environment: Vec<(&'static str, String)>,
    ) -> Result<Self> {
        let address = process::free_address()?;
        environment.extend([
            ("LISTEN_ADDR", address.to_string()),
            ("CRYPTO_SECRET", CRYPTO_SECRET.to_owned()),
            ("JWT_ACCESS_SECRET", "the access secret of the soak".to_owned()),
            ("JWT_REFRESH_SECRET", "the refresh secret of the soak".to_owned()),
            ("ADMIN_EMAIL", ADMIN.to_owned()),
            ("ADMIN_PASSWORD", PASSWORD.to_owned()),
            ("SMS_DRIVER", "none".to_owned()),
            ("TRUSTED_PROXIES", "1".to_owned()),
            ("LOG_FORMAT", "json".to_owned()),
            ("FLOW_HTTP_ALLOWED_HOSTS", "127.0.0.1".to_owned()),
        ]);
        Ok(Self {
            name: name.to_owned(),
            address,
            program: program.to_owned(),
            environment,
            folder: folder.to_owned(),
            faketime: faketime.map(Path::to_owned),
            child: None,
            roster: roster.clone(),
            logs: Vec::new(),
        })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Starts it with a clock that is ahead by `seconds`.
    pub(super) fn start(&mut self, seconds: i64) -> Result<()> {
        let file = self.folder.join(format!("{}-{}.log", self.name, self.logs.len()));
        let mut command = Command::new(&self.program);
        command
            .arg("serve")
            .env_clear()
            .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
            .envs(self.environment.iter().map(|(name, value)| (*name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(&file)?);
        if let (Some(library), true) = (&self.faketime, seconds != 0) {
            command.env("LD_PRELOAD", library).env("FAKETIME", format!("{seconds:+}"));
            // Steps are of the calendar's clock alone. A process that is killed would leave shared memory behind.
            for setting in ["FAKETIME_DONT_FAKE_MONOTONIC", "DONT_FAKE_MONOTONIC", "FAKETIME_DISABLE_SHM"] {
                command.env(setting, "1");
            }
        }
        let child = command.spawn().with_context(|| format!("cannot start {}", self.program.display()))?;
        self.roster.lock().insert(self.name.clone(), (child.id(), Instant::now()));
        self.child = Some(child);
        self.logs.push(Log { file, ahead: seconds });
        Ok(())
    }

    /// Waits until it is ready.
    pub(super) async fn ready(&mut self) -> Result<()> {
        let end = Instant::now() + PATIENCE;
        loop {
            let address = self.address;
            let ask = tokio::task::spawn_blocking(move || process::answers_ok(address, "/readyz"));
            if ask.await? {
                return Ok(());
            }
            if let Some(status) = self.ended_by_itself()? {
                bail!("{} ended while it was starting: {status}, see {}", self.name, self.log());
            }
            if Instant::now() > end {
                bail!("{} was not ready after {PATIENCE:?}, see {}", self.name, self.log());
            }
            tokio::time::sleep(POLL).await;
        }
    }

    /// The file of the log that is written now.
    fn log(&self) -> String {
        self.logs.last().map(|log| log.file.display().to_string()).unwrap_or_default()
    }

    /// Returns how the process ended, if it did although nobody told it to.
    pub(super) fn ended_by_itself(&mut self) -> Result<Option<ExitStatus>> {
        let Some(child) = &mut self.child else { return Ok(None) };
        let ended = child.try_wait()?;
        if ended.is_some() {
            self.forget();
        }
        Ok(ended)
    }

    /// Returns whether it was started and has not ended, as far as is known.
    pub(super) fn is_running(&self) -> bool {
        self.child.is_some()
    }

    fn forget(&mut self) -> Option<Child> {
        self.roster.lock().remove(&self.name);
        self.child.take()
    }

    /// Sends a signal to the process, if it runs.
    pub(super) fn signal(&self, signal: Signal) -> Result<()> {
        if let Some(child) = &self.child {
            kill_process(Pid::from_child(child), signal)?;
        }
        Ok(())
    }

    /// Kills it.
    pub(super) fn kill(&mut self) {
        if let Some(mut child) = self.forget() {
            let _ended_before = child.kill();
            let _status = child.wait();
        }
    }

    /// Asks it to stop, and waits; the complaint, if it did not do so well.
    pub(super) async fn stop(&mut self) -> Result<Option<String>> {
        self.signal(Signal::TERM)?;
        let Some(mut child) = self.forget() else { return Ok(None) };
        let asked = Instant::now();
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok((!status.success()).then(|| format!("{} stopped with {status}", self.name)));
            }
            if asked.elapsed() > PATIENCE {
                child.kill()?;
                child.wait()?;
                return Ok(Some(format!("{} did not stop within {PATIENCE:?}", self.name)));
            }
            tokio::time::sleep(POLL).await;
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}
