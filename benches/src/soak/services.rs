//! A PostgreSQL and a Redis of the soak's own, to be broken.

use std::fs::{self, File};
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use rustix::process::{Pid, Signal, kill_process};
use sqlx::{Connection as _, PgConnection};

use super::read::Place;
use crate::process;

/// How long a service may take to start or to stop.
const PATIENCE: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(50);
/// PostgreSQL refuses to run as root; these users exist where root runs the soak.
const UNPRIVILEGED: [&str; 2] = ["postgres", "nobody"];

/// The programs of the services.
#[derive(Debug, Clone)]
pub(super) struct Programs {
    /// The server program; `initdb` stands beside it.
    pub(super) postgres: PathBuf,
    pub(super) redis: PathBuf,
}

/// Both services.
pub(super) struct Services {
    pub(super) postgres: Service,
    pub(super) redis: Service,
}

impl Services {
    /// Starts both in folders below `folder`, which other users may pass through.
    pub(super) async fn start(programs: &Programs, folder: &Path) -> Result<Self> {
        let mut postgres = postgres(&programs.postgres, &folder.join("postgres"))?;
        postgres.start().await?;
        let mut redis = redis(&programs.redis, &folder.join("redis"))?;
        redis.start().await?;
        Ok(Self { postgres, redis })
    }

    pub(super) fn place(&self) -> Place {
        Place::Postgres { database: self.postgres.url.clone(), redis: self.redis.url.clone() }
    }
}

/// A service that can be started again where it stood. Dropping it kills it.
pub(super) struct Service {
    name: &'static str,
    pub(super) url: String,
    program: PathBuf,
    arguments: Vec<String>,
    folder: PathBuf,
    user: Option<(u32, u32)>,
    /// The signal that ends it as a crash would, with its children.
    crash: Signal,
    child: Option<Child>,
}

impl Service {
    /// Starts it and waits until it answers.
    pub(super) async fn start(&mut self) -> Result<()> {
        let log = File::options().create(true).append(true).open(self.folder.join("log"))?;
        let mut command = as_user(&self.program, self.user, &self.folder);
        command.args(&self.arguments).stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        self.child = Some(command.spawn().with_context(|| format!("cannot start {}", self.name))?);
        let end = Instant::now() + PATIENCE;
        while !self.answers().await {
            if Instant::now() > end {
                bail!("{} does not answer, see {}", self.name, self.folder.join("log").display());
            }
            tokio::time::sleep(POLL).await;
        }
        Ok(())
    }

    async fn answers(&self) -> bool {
        if self.url.starts_with("redis") {
            return super::redis::answers(&self.url).await;
        }
        match PgConnection::connect(&self.url).await {
            Ok(connection) => connection.close().await.is_ok(),
            Err(_) => false,
        }
    }

    /// Ends it as a crash would.
    pub(super) async fn crash(&mut self) -> Result<()> {
        let Some(mut child) = self.child.take() else { return Ok(()) };
        kill_process(Pid::from_child(&child), self.crash)?;
        let end = Instant::now() + PATIENCE;
        while child.try_wait()?.is_none() {
            if Instant::now() > end {
                bail!("{} does not end", self.name);
            }
            tokio::time::sleep(POLL).await;
        }
        Ok(())
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let Some(mut child) = self.child.take() else { return };
        let _ended_before = kill_process(Pid::from_child(&child), self.crash);
        let _status = child.wait();
    }
}

/// A new cluster. Commits reach the operating system, which outlives a crash of the service.
fn postgres(program: &Path, folder: &Path) -> Result<Service> {
    fs::create_dir(folder)?;
    let user = if rustix::process::geteuid().is_root() { Some(unprivileged()?) } else { None };
    if let Some((uid, gid)) = user {
        chown(folder, Some(uid), Some(gid)).context("cannot hand over the folder of PostgreSQL")?;
    }
    let data = folder.join("data");
    let made = as_user(&program.with_file_name("initdb"), user, folder)
        .arg("-D")
        .arg(&data)
        .args(["-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"])
        .stdin(Stdio::null())
        .output()
        .context("cannot start initdb")?;
    if !made.status.success() {
        bail!("initdb failed: {}", String::from_utf8_lossy(&made.stderr).trim_end());
    }
    let port = process::free_address()?.port();
    let mut arguments = vec!["-D".to_owned(), data.display().to_string(), "-p".to_owned(), port.to_string()];
    for setting in
        ["listen_addresses=127.0.0.1", "unix_socket_directories=", "max_connections=300", "fsync=off"]
    {
        arguments.extend(["-c".to_owned(), setting.to_owned()]);
    }
    Ok(Service {
        name: "PostgreSQL",
        url: format!("postgres://postgres@127.0.0.1:{port}/postgres"),
        program: program.to_owned(),
        arguments,
        folder: folder.to_owned(),
        user,
        crash: Signal::QUIT,
        child: None,
    })
}

/// A Redis as the documents ask for.
fn redis(program: &Path, folder: &Path) -> Result<Service> {
    fs::create_dir(folder)?;
    let port = process::free_address()?.port();
    let settings = ["--bind 127.0.0.1", "--save ''", "--appendonly yes", "--maxmemory-policy noeviction"];
    let mut arguments = vec!["--port".to_owned(), port.to_string()];
    for setting in settings {
        arguments.extend(setting.split(' ').map(|word| word.trim_matches('\'').to_owned()));
    }
    Ok(Service {
        name: "Redis",
        url: format!("redis://127.0.0.1:{port}/0"),
        program: program.to_owned(),
        arguments,
        folder: folder.to_owned(),
        user: None,
        crash: Signal::KILL,
        child: None,
    })
}

fn as_user(program: &Path, user: Option<(u32, u32)>, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder).env("HOME", folder);
    for name in ["PGDATA", "PGHOST", "PGPORT", "PGUSER", "PGDATABASE", "PGOPTIONS"] {
        command.env_remove(name);
    }
    if let Some((uid, gid)) = user {
        command.uid(uid).gid(gid);
    }
    command
}

fn unprivileged() -> Result<(u32, u32)> {
    let accounts = fs::read_to_string("/etc/passwd").context("cannot read /etc/passwd")?;
    let of = |name: &str| {
        let line = accounts.lines().find(|line| line.split(':').next() == Some(name))?;
        let mut fields = line.split(':').skip(2);
        Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
    };
    UNPRIVILEGED
        .into_iter()
        .find_map(of)
        .context("PostgreSQL does not run as root, and there is neither a user postgres nor nobody")
}
