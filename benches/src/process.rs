//! A program under test: started on its core, measured, and ended.

use std::ffi::OsStr;
use std::fs::File;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use rustix::process::{Pid, Signal, kill_process};

use crate::machine::{self, Cores};

/// How long a program may take to become ready, or to end.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often it is looked at.
const POLL: Duration = Duration::from_millis(2);

/// A running program. Dropping it kills it.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
}

impl Server {
    /// Starts `command` on the server's core; its standard error goes to `log`.
    pub(crate) fn start(command: &mut Command, cores: Cores, log: &Path) -> Result<Self> {
        machine::pin(cores.server)?;
        let server = Self::spawn(command, log);
        machine::pin(cores.load)?;
        server
    }

    /// Starts `command` on the cores of this program; its standard error goes to `log`.
    pub(crate) fn spawn(command: &mut Command, log: &Path) -> Result<Self> {
        let name = Path::new(command.get_program()).file_name().unwrap_or(OsStr::new("?")).to_owned();
        let child = command.stdin(Stdio::null()).stderr(File::create(log)?).spawn();
        Ok(Self { child: child.with_context(|| format!("cannot start {}", name.display()))? })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Its standard output, once.
    pub(crate) fn output(&mut self) -> Result<ChildStdout> {
        self.child.stdout.take().context("the output was not piped")
    }

    /// Waits until `ready` says so.
    pub(crate) fn until(&mut self, ready: impl Fn() -> bool) -> Result<()> {
        let end = Instant::now() + PATIENCE;
        while !ready() {
            if let Some(status) = self.child.try_wait()? {
                bail!("the server ended while it was starting: {status}");
            }
            if Instant::now() > end {
                bail!("the server was not ready after {} s", PATIENCE.as_secs());
            }
            thread::sleep(POLL);
        }
        Ok(())
    }

    /// Asks it to end, and waits until it has.
    pub(crate) fn stop(mut self) -> Result<()> {
        kill_process(Pid::from_child(&self.child), Signal::TERM)?;
        let end = Instant::now() + PATIENCE;
        while self.child.try_wait()?.is_none() {
            if Instant::now() > end {
                bail!("the server did not end within {} s", PATIENCE.as_secs());
            }
            thread::sleep(POLL);
        }
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ended_before = self.child.kill();
        let _status = self.child.wait();
    }
}

/// A port that nobody uses now.
pub(crate) fn free_address() -> Result<SocketAddr> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?)
}

/// Returns whether `address` accepts connections.
pub(crate) fn listens(address: SocketAddr) -> bool {
    TcpStream::connect(address).is_ok()
}

/// Returns whether `GET path` is answered 200.
pub(crate) fn answers_ok(address: SocketAddr, path: &str) -> bool {
    use std::io::{Read as _, Write as _};
    let ask = || -> std::io::Result<bool> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(Duration::from_secs(2)))?;
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
        let mut head = [0; 12];
        stream.read_exact(&mut head)?;
        Ok(&head == b"HTTP/1.1 200")
    };
    ask().unwrap_or(false)
}
