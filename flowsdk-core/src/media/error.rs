//! Why a use case of files fails.

use super::{BlobError, MediaKind, Refused};
use crate::fault::{BoxError, Fault, StorageError, UNAVAILABLE};
use crate::router::RouterUnknown;

/// The reason why a use case of files fails.
#[derive(Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum MediaError {
    /// No such file within reach, or its content is not here.
    #[error("no such file")]
    #[fault(NotFound, "not_found", pt = "Arquivo não encontrado", en = "File not found")]
    NotFound,
    /// No such router to upload it to.
    #[error(transparent)]
    #[fault(transparent)]
    RouterUnknown(#[from] RouterUnknown),
    /// A link that is wrong, or whose time is over.
    #[error("not a link that can be used")]
    #[fault(
        Forbidden,
        "link_invalid",
        pt = "O link é inválido ou expirou",
        en = "The link is invalid or has expired"
    )]
    Link,
    /// A file without a byte.
    #[error("an empty file")]
    #[fault(Unprocessable, "media_empty", pt = "O arquivo está vazio", en = "The file is empty")]
    Empty,
    /// A file that is larger than its kind may be.
    #[error("more than {most} bytes")]
    #[fault(
        Unprocessable,
        "media_too_large",
        pt = "O arquivo pode ter no máximo {most} bytes",
        en = "The file may have at most {most} bytes"
    )]
    TooLarge {
        /// Most bytes.
        most: u64,
    },
    /// Something that machines run.
    #[error("an executable file")]
    #[fault(
        Unprocessable,
        "media_type_refused",
        pt = "Este tipo de arquivo não é aceito",
        en = "Files of this type are not accepted"
    )]
    Executable,
    /// A file that is not what it is said to be.
    #[error("{found}, said to be {claimed}")]
    #[fault(
        Unprocessable,
        "media_type_mismatch",
        pt = "O conteúdo é {found}, não {claimed}",
        en = "The content is {found}, not {claimed}"
    )]
    Mismatch {
        /// What it is said to be.
        claimed: String,
        /// What it is.
        found: String,
    },
    /// A file of a kind that is not wanted.
    #[error("{mime_type} as {}", .kind.name())]
    #[fault(
        Unprocessable,
        "media_kind_refused",
        pt = "Arquivos {mime_type} não são aceitos aqui",
        en = "Files of type {mime_type} are not accepted here"
    )]
    Kind {
        /// The kind.
        kind: MediaKind,
        /// The media type.
        mime_type: String,
    },
    /// The content broke off on its way here.
    #[error("the content breaks off")]
    #[fault(
        Invalid,
        "validation_failed",
        pt = "O corpo chegou incompleto",
        en = "The body arrived incomplete"
    )]
    Incomplete(#[source] BoxError),
    /// Contents cannot be kept or read.
    #[error("contents cannot be kept or read")]
    #[fault(Unavailable, "unavailable", text = UNAVAILABLE)]
    Blobs(#[source] BoxError),
    /// Storage failed.
    #[error(transparent)]
    #[fault(transparent)]
    Storage(#[from] StorageError),
}

impl From<BlobError> for MediaError {
    fn from(error: BlobError) -> Self {
        match error {
            BlobError::TooLarge { most } => Self::TooLarge { most },
            BlobError::Source(source) => Self::Incomplete(source),
            BlobError::Storage(source) => Self::Blobs(source),
        }
    }
}

impl From<Refused> for MediaError {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Executable => Self::Executable,
            Refused::Mismatch { claimed, found } => Self::Mismatch { claimed, found },
        }
    }
}
