//! Processes that read PDFs: this program, started again with a subcommand.

use async_trait::async_trait;
use flowsdk_agent::knowledge::{PdfError, PdfReader};
use flowsdk_core::fault::BoxError;
use flowsdk_outside::pdf::{PdfFailure, PdfProcesses};
use flowsdk_outside::script::WorkerCommand;

/// The subcommand of this program that reads a PDF.
pub const READER_COMMAND: &str = "read-pdf";
/// Most processes that read PDFs at once.
const PROCESSES: usize = 2;

/// Has PDFs read in processes of their own.
#[derive(Debug)]
pub struct IsolatedPdfs(PdfProcesses);

impl IsolatedPdfs {
    /// Returns a reader that starts this program.
    ///
    /// # Errors
    /// This program does not know where it is.
    pub fn of_this_program() -> Result<Self, BoxError> {
        let arguments = vec![READER_COMMAND.to_owned()];
        Ok(Self::new(WorkerCommand { program: std::env::current_exe()?, arguments }))
    }

    /// Returns a reader that starts another program.
    pub fn new(command: WorkerCommand) -> Self {
        Self(PdfProcesses::new(command, PROCESSES))
    }
}

#[async_trait]
impl PdfReader for IsolatedPdfs {
    async fn read(&self, pdf: &[u8]) -> Result<String, PdfError> {
        self.0.read(pdf).await.map_err(|failure| match failure {
            PdfFailure::Unreadable => PdfError::Unreadable,
            PdfFailure::Encrypted => PdfError::Encrypted,
            PdfFailure::TooLong => PdfError::TooLong,
            PdfFailure::Memory => PdfError::Memory,
            PdfFailure::Time => PdfError::Time,
            PdfFailure::NoProcess => PdfError::NotAvailable,
        })
    }
}
