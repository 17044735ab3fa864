//! The process that reads one PDF: its bytes on standard input, its text on standard output.

use std::fmt;
use std::io::{self, Read as _, Write as _};
use std::process::ExitCode;

use flowsdk_core::aside;
use pdf_extract::{ConvertToFmt, Document, Error, OutputError, PlainTextOutput, output_doc};
use rustix::process::{Resource, Rlimit, setrlimit};

use super::End;

/// Most bytes of the text of a PDF.
pub const LONGEST_TEXT: usize = 5 << 20;
/// Most address space of the process.
const ADDRESS_SPACE: u64 = 512 << 20;
/// Seconds of processor time after which the kernel ends the process.
const PROCESSOR: u64 = 30;
/// Most open files; it needs the three that it is born with.
const FILES: u64 = 8;

/// Reads one PDF; a program's whole `main` (see [`PdfProcesses`](super::PdfProcesses)).
pub fn serve() -> ExitCode {
    match limit().and_then(|()| answer()) {
        Ok(end) => ExitCode::from(end as u8),
        // Standard input or output broke: nobody waits for an answer.
        Err(_) => ExitCode::FAILURE,
    }
}

fn limit() -> io::Result<()> {
    aside::first_thread_gives_way();
    for (resource, most) in
        [(Resource::As, ADDRESS_SPACE), (Resource::Nofile, FILES), (Resource::Fsize, 0), (Resource::Core, 0)]
    {
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?;
    }
    // Another signal than the one behind it, so that the parent knows what ended.
    let processor = Rlimit { current: Some(PROCESSOR), maximum: Some(PROCESSOR + 1) };
    Ok(setrlimit(Resource::Cpu, processor)?)
}

fn answer() -> io::Result<End> {
    let mut pdf = Vec::new();
    io::stdin().lock().read_to_end(&mut pdf)?;
    let mut text = Text::default();
    let end = match read(&pdf, &mut text) {
        Ok(()) => End::Read,
        Err(_) if text.is_full => End::TooLong,
        Err(OutputError::PdfError(
            Error::Decryption(_) | Error::InvalidPassword | Error::UnsupportedSecurityHandler(_),
        )) => End::Encrypted,
        Err(_) => End::Unreadable,
    };
    if end == End::Read {
        io::stdout().lock().write_all(text.text.as_bytes())?;
    }
    Ok(end)
}

/// Many PDFs are encrypted with an empty password, and may be read by everybody.
fn read(pdf: &[u8], text: &mut Text) -> Result<(), OutputError> {
    let mut document = Document::load_mem(pdf)?;
    if document.is_encrypted() {
        document.decrypt("")?;
    }
    output_doc(&document, &mut PlainTextOutput::new(text))
}

/// A text that refuses to become too long.
#[derive(Default)]
struct Text {
    text: String,
    is_full: bool,
}

impl fmt::Write for Text {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        if self.text.len() + more.len() > LONGEST_TEXT {
            self.is_full = true;
            return Err(fmt::Error);
        }
        self.text.push_str(more);
        Ok(())
    }
}

impl<'a> ConvertToFmt for &'a mut Text {
    type Writer = &'a mut Text;

    fn convert(self) -> Self::Writer {
        self
    }
}
