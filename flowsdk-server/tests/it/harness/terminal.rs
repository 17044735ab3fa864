//! A command that is talked to: lines in, lines of JSON out.

use std::collections::HashMap;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::eventually;

/// A running command; killed when dropped.
pub struct Terminal {
    child: Child,
    input: Option<ChildStdin>,
    out: PathBuf,
    err: PathBuf,
    /// Events that were waited for, with those before them; and answers. News may come before the answer to their cause.
    taken: HashMap<&'static str, usize>,
}

impl Terminal {
    /// Starts `command`. Its output goes to `<name>.out` and `<name>.log` in `dir`.
    pub fn start(mut command: Command, dir: &Path, name: &str) -> Self {
        let (out, err) = (dir.join(format!("{name}.out")), dir.join(format!("{name}.log")));
        command.stdin(Stdio::piped()).stdout(File::create(&out).unwrap()).stderr(File::create(&err).unwrap());
        let mut child = command.spawn().unwrap();
        let input = child.stdin.take();
        Self { child, input, out, err, taken: HashMap::new() }
    }

    /// Writes a line.
    pub fn write(&mut self, line: &str) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    /// Every line so far.
    pub fn lines(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(&self.out).unwrap();
        let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
        whole.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
    }

    /// Waits for the next line whose `field` has this value; those before it that have the field count as taken.
    async fn next(&mut self, field: &'static str, value: &str) -> Value {
        let what = format!("{field} {value}");
        let taken = self.taken.get(field).copied().unwrap_or_default();
        let (at, line) = eventually(&what, || {
            // Before its lines are read: one that has ended has written its last.
            let is_running = self.is_running();
            let mut lines = self.lines().into_iter().enumerate().skip(taken);
            let found = lines.find(|(_, line)| line[field] == value);
            assert!(found.is_some() || is_running, "it has ended: {what}");
            async move { found }
        })
        .await;
        self.taken.insert(field, at + 1);
        line
    }

    /// Waits for the next event of this name.
    pub async fn event(&mut self, name: &str) -> Value {
        self.next("event", name).await
    }

    /// Writes a line, and waits for the answer to it.
    pub async fn ask(&mut self, line: &str) -> Value {
        self.write(line);
        self.answer(line.split(' ').next().unwrap()).await
    }

    /// Waits for the next answer to this command.
    pub async fn answer(&mut self, name: &str) -> Value {
        self.next("answer", name).await
    }

    fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// What it wrote to standard error.
    pub fn errors(&self) -> String {
        std::fs::read_to_string(&self.err).unwrap()
    }

    /// Ends its input, and waits until it ends.
    pub async fn end(mut self) -> (ExitStatus, String) {
        self.input = None;
        let status = eventually("it ends", || {
            let status = self.child.try_wait().unwrap();
            async move { status }
        })
        .await;
        (status, self.errors())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let out = std::fs::read_to_string(&self.out).unwrap_or_default();
            eprintln!("--- {}\n{out}{}", self.out.display(), self.errors());
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
