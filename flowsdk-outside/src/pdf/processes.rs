//! The processes that read PDFs: a new one for each.

use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::Signal;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};
use tokio::sync::Semaphore;

use super::{End, LONGEST_TEXT};
use crate::script::WorkerCommand;

/// How long a process may take for its PDF before it is killed.
const PATIENCE: Duration = Duration::from_secs(60);
/// Most bytes that are looked at of what a process says when it dies.
const LAST_WORDS: u64 = 16 << 10;
/// What the standard library says when there is no memory.
const NO_MEMORY: &[u8] = b"memory allocation of";

/// Why a PDF has no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PdfFailure {
    /// It is broken, or brought its reader down.
    #[error("the PDF cannot be read")]
    Unreadable,
    /// A password is needed.
    #[error("the PDF is encrypted")]
    Encrypted,
    /// Its text is longer than [`LONGEST_TEXT`].
    #[error("the text of the PDF is too long")]
    TooLong,
    /// Its reader reached its limit of memory.
    #[error("the PDF needs too much memory")]
    Memory,
    /// Its reader reached its limit of time.
    #[error("the PDF takes too long to read")]
    Time,
    /// The system gave no process.
    #[error("no process could be started to read the PDF")]
    NoProcess,
}

/// Reads PDFs in processes that are killed when they take too long, or when nobody waits for them any more.
#[derive(Debug)]
pub struct PdfProcesses {
    command: WorkerCommand,
    places: Semaphore,
}

impl PdfProcesses {
    /// At most `at_once` processes of a program whose `main` is [`serve`](super::serve). Further PDFs wait.
    pub fn new(command: WorkerCommand, at_once: usize) -> Self {
        Self { command, places: Semaphore::new(at_once.max(1)) }
    }

    /// Returns the text of a PDF, page after page. A picture has none.
    ///
    /// # Errors
    /// [`PdfFailure`].
    pub async fn read(&self, pdf: &[u8]) -> Result<String, PdfFailure> {
        self.read_within(pdf, PATIENCE).await
    }

    async fn read_within(&self, pdf: &[u8], patience: Duration) -> Result<String, PdfFailure> {
        let _place = self.places.acquire().await.map_err(|_| PdfFailure::NoProcess)?;
        let mut child = self.start().map_err(|error| {
            tracing::warn!(%error, "no process could be started to read a PDF");
            PdfFailure::NoProcess
        })?;
        let told = tokio::time::timeout(patience, told(&mut child, pdf)).await;
        let Told { status, text, last_words } = match told {
            Ok(Ok(told)) => told,
            Ok(Err(error)) => {
                tracing::warn!(%error, "the process that reads a PDF cannot be heard");
                return Err(PdfFailure::NoProcess);
            }
            // Dropping the child kills it.
            Err(_) => return Err(PdfFailure::Time),
        };
        if status.code() == Some(i32::from(End::Read as u8)) {
            return String::from_utf8(text).map_err(|_| PdfFailure::Unreadable);
        }
        let failure = failure(status, &last_words);
        tracing::info!(%status, %failure, "a PDF has no text");
        Err(failure)
    }

    fn start(&self) -> io::Result<Child> {
        Command::new(&self.command.program)
            .args(&self.command.arguments)
            .env_clear()
            // The allocator would reserve a GiB before the process limits itself.
            .env("MIMALLOC_ARENA_RESERVE", "0")
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
    }
}

/// What a process has told when it ended.
struct Told {
    status: ExitStatus,
    text: Vec<u8>,
    last_words: Vec<u8>,
}

/// Gives a process its PDF, and hears it to its end.
async fn told(child: &mut Child, pdf: &[u8]) -> io::Result<Told> {
    let no_pipe = || io::Error::other("no pipe");
    let mut input = child.stdin.take().ok_or_else(no_pipe)?;
    let output = child.stdout.take().ok_or_else(no_pipe)?;
    let errors = child.stderr.take().ok_or_else(no_pipe)?;
    let write = async move {
        // One that has died reads no more; its status tells why.
        let _hung_up = input.write_all(pdf).await;
        drop(input);
    };
    let ((), text, last_words) =
        tokio::join!(write, beginning(output, LONGEST_TEXT as u64 + 1), beginning(errors, LAST_WORDS));
    Ok(Told { text: text?, last_words: last_words?, status: child.wait().await? })
}

/// Returns the first bytes of a stream. Whoever writes more finds nobody who reads it.
async fn beginning(stream: impl AsyncRead + Unpin, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    stream.take(most).read_to_end(&mut bytes).await?;
    Ok(bytes)
}

fn failure(status: ExitStatus, last_words: &[u8]) -> PdfFailure {
    let is = |end: End| status.code() == Some(i32::from(end as u8));
    if is(End::Encrypted) {
        return PdfFailure::Encrypted;
    }
    if is(End::TooLong) {
        return PdfFailure::TooLong;
    }
    if status.signal() == Some(Signal::XCPU.as_raw()) {
        return PdfFailure::Time;
    }
    if last_words.windows(NO_MEMORY.len()).any(|words| words == NO_MEMORY) {
        return PdfFailure::Memory;
    }
    PdfFailure::Unreadable
}
