//! Why a visitor is not let in.

use flowsdk_core::fault::{Fault, StorageError};

/// The reason, with the `code` by which a page can decide. `auth_error.message` is the same for all of
/// them (spec B 7).
#[derive(Debug, thiserror::Error, Fault)]
pub enum AuthError {
    /// The channel does not exist.
    #[error("no such channel")]
    #[fault(NotFound, "channel_unknown", pt = "Canal não encontrado", en = "Channel not found")]
    ChannelUnknown,
    /// The channel is there, but only a test channel will do.
    #[error("not a test channel")]
    #[fault(
        NotFound,
        "channel_unknown",
        pt = "O canal não é um canal de teste",
        en = "The channel is not a test channel"
    )]
    NotForTests,
    /// The visitor or their key is wrong, or the handshake has no usable form.
    #[error("identity missing or key wrong")]
    #[fault(
        Unauthenticated,
        "identity_invalid",
        pt = "Visitante desconhecido ou chave de sessão inválida",
        en = "Unknown visitor, or wrong session key"
    )]
    IdentityInvalid,
    /// The embed token is missing where one is needed, or is not acceptable.
    #[error("embed token not acceptable: {0}")]
    #[fault(Unauthenticated, "token_invalid", pt = "Token inválido", en = "Invalid token")]
    TokenInvalid(&'static str),
    /// The embed token has expired.
    #[error("embed token expired")]
    #[fault(Unauthenticated, "token_expired", pt = "Token expirado", en = "Token expired")]
    TokenExpired,
    /// The page's origin is not among those the channel allows.
    #[error("origin not allowed")]
    #[fault(Forbidden, "origin_refused", pt = "Origem não permitida", en = "Origin not allowed")]
    OriginRefused,
    /// Too many new visits, or too many sockets of one visitor.
    #[error("too many connections")]
    #[fault(
        RateLimited,
        "rate_limited",
        pt = "Muitas visitas, aguarde um momento",
        en = "Too many visits, wait a moment"
    )]
    RateLimited,
    /// The database failed; see the source.
    #[error("storage failed")]
    #[fault(Unavailable, "unavailable", text = .0.text())]
    Storage(#[from] StorageError),
}

/// Why a visitor who is let in may not upload a file.
#[derive(Debug, thiserror::Error, Fault)]
pub enum UploadError {
    /// The channel takes no files.
    #[error("the channel takes no files")]
    #[fault(
        Forbidden,
        "attachments_disabled",
        pt = "Este canal não aceita arquivos",
        en = "This channel takes no files"
    )]
    Disabled,
    /// Too many files from the place of the visitor, or too many bytes.
    #[error("too many uploads")]
    #[fault(
        RateLimited,
        "rate_limited",
        pt = "Muitos arquivos, aguarde um momento",
        en = "Too many files, wait a moment"
    )]
    TooMany,
}

/// The message of every `auth_error` (spec B 3.1).
pub const AUTH_ERROR_MESSAGE: &str = "erro interno";
