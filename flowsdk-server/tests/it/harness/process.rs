//! One process of the server.

use std::fs::File;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use flowsdk_outside::script::{ScriptWorkers, WorkerCommand};
use flowsdk_server::pdf_reader::{IsolatedPdfs, READER_COMMAND};
use flowsdk_server::script_worker::WORKER_COMMAND;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::{PATIENCE, eventually, http};

/// The command, with nothing of the caller's environment that would configure it.
pub fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_flowsdk-server"));
    command.env_clear().stdin(Stdio::null());
    for name in ["PATH", "HOME", "TMPDIR", "LLVM_PROFILE_FILE"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command
}

/// Script workers of the server's program, for applications in this process.
pub fn script_workers() -> ScriptWorkers {
    ScriptWorkers::new(worker(WORKER_COMMAND), 1)
}

/// A reader of PDFs of the server's program, for applications in this process.
pub fn pdf_reader() -> IsolatedPdfs {
    IsolatedPdfs::new(worker(READER_COMMAND))
}

fn worker(command: &str) -> WorkerCommand {
    WorkerCommand {
        program: env!("CARGO_BIN_EXE_flowsdk-server").into(),
        arguments: vec![command.to_owned()],
    }
}

/// A running process; killed when dropped.
pub struct Process {
    child: Child,
    /// Where it listens.
    pub addr: SocketAddr,
    log: PathBuf,
    out: PathBuf,
}

impl Process {
    /// Starts `command` and waits until it listens. Its output goes to `<name>.log` and `<name>.out` in `dir`.
    pub async fn spawn(mut command: Command, dir: &Path, name: &str) -> Self {
        let log = dir.join(format!("{name}.log"));
        let out = dir.join(format!("{name}.out"));
        command
            .env("LOG_FORMAT", "json")
            .stdout(File::create(&out).unwrap())
            .stderr(File::create(&log).unwrap());
        let mut starting = Starting(Some(command.spawn().unwrap()));
        let child = starting.0.as_mut().unwrap();
        let addr = eventually("the server listens", || {
            let ended = child.try_wait().unwrap();
            let found = listening(&out, &log);
            assert!(ended.is_none(), "ended at its start: {ended:?}\n{}", tail(&log));
            async move { found }
        })
        .await;
        let child = starting.0.take().unwrap();
        Self { child, addr, log, out }
    }

    /// Waits until `/readyz` says so.
    pub async fn ready(&self) {
        let addr = self.addr;
        eventually("the server is ready", || async move {
            let answer = http::try_get(addr, "/readyz", &[]).await?;
            (answer.status == 200).then_some(())
        })
        .await;
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Ends it as a power cut would.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks it to end; how it ended and how long it took.
    pub async fn stop(mut self) -> (ExitStatus, Duration) {
        let begin = Instant::now();
        self.signal(Signal::TERM);
        let child = &mut self.child;
        let status = eventually("the server stops", || {
            let status = child.try_wait().unwrap();
            async move { status }
        })
        .await;
        if !status.success() {
            eprintln!("--- {}\n{}", self.log.display(), tail(&self.log));
        }
        (status, begin.elapsed())
    }

    /// The number of the process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// What it wrote to standard output.
    pub fn output(&self) -> String {
        std::fs::read_to_string(&self.out).unwrap()
    }

    /// What it wrote to its log.
    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap()
    }
}

/// A process that does not listen yet; killed when the test gives it up.
struct Starting(Option<Child>);

impl Drop for Starting {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("--- {}\n{}", self.log.display(), tail(&self.log));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The address, from the lines of `demo`, the line of `demo --json` or the log of `serve`.
fn listening(out: &Path, log: &Path) -> Option<SocketAddr> {
    let lines = |path: &Path| std::fs::read_to_string(path).unwrap_or_default();
    let json = |line: &str| serde_json::from_str::<Value>(line).ok();
    let (out, log) = (lines(out), lines(log));
    if let Some(line) = out.lines().filter_map(json).next() {
        return line["url"].as_str()?.strip_prefix("http://")?.parse().ok();
    }
    if let Some(chat) = out.lines().find_map(|line| line.strip_prefix("Chat:")) {
        return chat.trim().strip_prefix("http://")?.split('/').next()?.parse().ok();
    }
    let line = log.lines().filter_map(json).find(|line| line["fields"]["message"] == "listening")?;
    line["fields"]["address"].as_str()?.parse().ok()
}

fn tail(log: &Path) -> String {
    let log = std::fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = log.lines().collect();
    lines[lines.len().saturating_sub(30)..].join("\n")
}

/// Runs `command` to its end; status, standard output, standard error.
pub async fn run(mut command: Command) -> (ExitStatus, String, String) {
    let task = tokio::task::spawn_blocking(move || command.output().unwrap());
    let output = tokio::time::timeout(PATIENCE, task).await.expect("it ends").unwrap();
    (output.status, String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
}

/// Returns whether a command succeeded, and what it printed.
pub async fn ended(command: Command) -> (bool, String) {
    let (status, out, err) = run(command).await;
    (status.success(), out + &err)
}
