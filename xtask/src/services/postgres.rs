//! A PostgreSQL cluster of its own, fast and forgetful.

use std::fs;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use rustix::process::Signal;
use tempfile::TempDir;

use super::{Plan, Service, free_port, new_directory};
use crate::packages::Program;

/// PostgreSQL refuses to run as root; these users exist where root runs the tests.
const UNPRIVILEGED: [&str; 2] = ["postgres", "nobody"];
/// The line of `postmaster.pid` that tells the state, as `pg_ctl` reads it.
const STATUS_LINE: usize = 7;
/// The longest path of a socket's directory that leaves room for the socket's name.
const SOCKET_PATH_LIMIT: usize = 80;

#[derive(Clone, Copy)]
struct User {
    uid: u32,
    gid: u32,
}

pub(super) fn start(server: &Program) -> Result<Service> {
    start_in(new_directory("postgres")?, &server.path, "PostgreSQL")
}

/// Starts the one of the Python package `pgserver`, below the folder `packages`. It is copied, because whoever runs it may not
/// be let into that folder.
pub(super) fn start_with_vectors(packages: &Path) -> Result<Service> {
    let directory = new_directory("pgvector")?;
    for part in
        ["pgserver.libs", "pgserver/pginstall/bin", "pgserver/pginstall/lib", "pgserver/pginstall/share"]
    {
        copy(&packages.join(part), &directory.path().join(part))?;
    }
    let server = directory.path().join("pgserver/pginstall/bin/postgres");
    start_in(directory, &server, "PostgreSQL with pgvector")
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    let entries = from.read_dir().with_context(|| format!("there is no {}", from.display()))?;
    for entry in entries {
        let entry = entry?;
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() { copy(&from, &to)? } else { fs::copy(&from, &to).map(drop)? }
    }
    Ok(())
}

fn start_in(directory: TempDir, server: &Path, name: &'static str) -> Result<Service> {
    let user = if rustix::process::geteuid().is_root() { Some(unprivileged_user()?) } else { None };
    if let Some(User { uid, gid }) = user {
        chown(directory.path(), Some(uid), Some(gid))
            .context("cannot hand over the directory of PostgreSQL")?;
    }
    let data = directory.path().join("data");
    create_cluster(&server.with_file_name("initdb"), &data, directory.path(), user)?;

    let port = free_port()?;
    let sockets = directory.path().to_string_lossy();
    let sockets = if sockets.len() > SOCKET_PATH_LIMIT { "" } else { &*sockets };
    let mut command = command_as(server, user, directory.path());
    command.arg("-D").arg(&data).args(["-p", &port.to_string()]);
    for setting in [
        "listen_addresses=127.0.0.1",
        &format!("unix_socket_directories={sockets}"),
        "max_connections=300",
        "fsync=off",
        "synchronous_commit=off",
        "full_page_writes=off",
    ] {
        command.args(["-c", setting]);
    }
    // SIGINT ends the sessions and shuts down, SIGQUIT drops everything.
    let stop: &[Signal] = &[Signal::INT, Signal::QUIT];
    Plan { name, port, stop, quick_stop: "QUIT", directory }
        .start(&mut command, |directory, _| is_ready(directory))
}

/// The C locale sorts text as SQLite does.
fn create_cluster(initdb: &Path, data: &Path, home: &Path, user: Option<User>) -> Result<()> {
    let output = command_as(initdb, user, home)
        .arg("-D")
        .arg(data)
        .args(["-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"])
        .stdin(Stdio::null())
        .output()
        .context("cannot start initdb")?;
    if !output.status.success() {
        bail!("initdb failed ({})\n{}", output.status, String::from_utf8_lossy(&output.stderr).trim_end());
    }
    Ok(())
}

fn command_as(program: &Path, user: Option<User>, home: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(home).env("HOME", home);
    // Settings for the clients of another server.
    for name in ["PGDATA", "PGHOST", "PGPORT", "PGUSER", "PGDATABASE", "PGOPTIONS"] {
        command.env_remove(name);
    }
    if let Some(User { uid, gid }) = user {
        command.uid(uid).gid(gid);
    }
    command
}

fn is_ready(directory: &Path) -> bool {
    let state = fs::read_to_string(directory.join("data/postmaster.pid")).unwrap_or_default();
    state.lines().nth(STATUS_LINE).is_some_and(|line| line.trim() == "ready")
}

fn unprivileged_user() -> Result<User> {
    let accounts = fs::read_to_string("/etc/passwd").context("cannot read /etc/passwd")?;
    UNPRIVILEGED
        .iter()
        .find_map(|name| user_in(&accounts, name))
        .context("PostgreSQL does not run as root, and there is neither a user postgres nor nobody")
}

fn user_in(accounts: &str, name: &str) -> Option<User> {
    accounts.lines().find_map(|line| {
        let mut fields = line.split(':');
        if fields.next()? != name {
            return None;
        }
        Some(User { uid: fields.nth(1)?.parse().ok()?, gid: fields.next()?.parse().ok()? })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_found_by_their_whole_name() {
        let accounts = "root:x:0:0:root:/root:/bin/bash\nnobodys:x:7:7::/:\nnobody:x:65534:65533:nobody:/nonexistent:/usr/sbin/nologin\n";
        let user = user_in(accounts, "nobody").expect("a user");
        assert_eq!((user.uid, user.gid), (65534, 65533));
        assert!(user_in(accounts, "postgres").is_none());
    }

    #[test]
    fn ready_is_what_the_server_says() {
        let directory = tempfile::tempdir().expect("a directory");
        let data = directory.path().join("data");
        fs::create_dir(&data).expect("a data directory");
        assert!(!is_ready(directory.path()));
        let state = |word: &str| format!("1\n{}\n0\n5432\n\n127.0.0.1\n  0 0\n{word}\n", data.display());
        fs::write(data.join("postmaster.pid"), state("starting")).expect("a state");
        assert!(!is_ready(directory.path()));
        fs::write(data.join("postmaster.pid"), state("ready   ")).expect("a state");
        assert!(is_ready(directory.path()));
    }
}
