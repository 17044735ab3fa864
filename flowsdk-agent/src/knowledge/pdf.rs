//! The port of whoever reads PDFs.

use std::fmt::Debug;

use async_trait::async_trait;

/// Why a PDF has no text. Documents show it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PdfError {
    /// It is broken.
    #[error("the PDF cannot be read")]
    Unreadable,
    /// A password is needed.
    #[error("the PDF is encrypted")]
    Encrypted,
    /// Its text is longer than that of any document may be.
    #[error("the text of the PDF is longer than 5 MiB")]
    TooLong,
    /// It needs more memory than its reader may have.
    #[error("the PDF needs too much memory")]
    Memory,
    /// It needs more time than its reader may have.
    #[error("the PDF takes too long to read")]
    Time,
    /// There is no reader, or it cannot be started.
    #[error("this server cannot read PDFs now")]
    NotAvailable,
}

/// Reads PDFs. One may do harm to whoever reads it, so a reader has limits of time and memory of its own, and does not share its
/// process with others.
#[async_trait]
pub trait PdfReader: Debug + Send + Sync {
    /// Returns the text of a PDF; that of pictures is empty.
    ///
    /// # Errors
    /// [`PdfError`].
    async fn read(&self, pdf: &[u8]) -> Result<String, PdfError>;
}

/// Reads none: each fails with [`PdfError::NotAvailable`].
#[derive(Debug, Clone, Copy, Default)]
pub struct NoPdfs;

#[async_trait]
impl PdfReader for NoPdfs {
    async fn read(&self, _pdf: &[u8]) -> Result<String, PdfError> {
        Err(PdfError::NotAvailable)
    }
}
