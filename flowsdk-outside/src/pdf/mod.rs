//! The texts of PDFs.
//!
//! A PDF may make its reader allocate without end, or call itself until the stack is full. So each is read in a process of its
//! own, with limits of memory, processor time and output. That process has no environment, no files and no secrets.

mod child;
mod processes;

pub use child::{LONGEST_TEXT, serve};
pub use processes::{PdfFailure, PdfProcesses};

/// How a process that read its PDF to the end, or knows why it cannot, ends. Any other code is a crash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum End {
    /// The text is on standard output.
    Read = 0,
    /// The bytes are no PDF that can be read.
    Unreadable = 10,
    /// A password is needed.
    Encrypted = 11,
    /// The text is longer than [`LONGEST_TEXT`].
    TooLong = 12,
}
