//! Why a visitor is not let in.

use flowsdk_core::fault::{Fault, FaultKind, StorageError};
use flowsdk_core::text::Text;

/// The reason, with the `code` by which a page can decide. `auth_error.message` is the same for all of
/// them (spec B 7).
#[derive(Debug, thiserror::Error)]
pub enum AuthError {
    /// The channel does not exist.
    #[error("no such channel")]
    ChannelUnknown,
    /// The visitor or their key is wrong, or the handshake has no usable form.
    #[error("identity missing or key wrong")]
    IdentityInvalid,
    /// The embed token is missing where one is needed, or is not acceptable.
    #[error("embed token not acceptable: {0}")]
    TokenInvalid(&'static str),
    /// The embed token has expired.
    #[error("embed token expired")]
    TokenExpired,
    /// The page's origin is not among those the channel allows.
    #[error("origin not allowed")]
    OriginRefused,
    /// Too many new visits, or too many sockets of one visitor.
    #[error("too many connections")]
    RateLimited,
    /// The database failed; see the source.
    #[error("storage failed")]
    Storage(#[from] StorageError),
}

/// The message of every `auth_error` (spec B 3.1).
pub const AUTH_ERROR_MESSAGE: &str = "erro interno";

impl Fault for AuthError {
    fn kind(&self) -> FaultKind {
        match self {
            Self::ChannelUnknown => FaultKind::NotFound,
            Self::IdentityInvalid | Self::TokenInvalid(_) | Self::TokenExpired => FaultKind::Unauthenticated,
            Self::OriginRefused => FaultKind::Forbidden,
            Self::RateLimited => FaultKind::RateLimited,
            Self::Storage(_) => FaultKind::Unavailable,
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::ChannelUnknown => "channel_unknown",
            Self::IdentityInvalid => "identity_invalid",
            Self::TokenInvalid(_) => "token_invalid",
            Self::TokenExpired => "token_expired",
            Self::OriginRefused => "origin_refused",
            Self::RateLimited => "rate_limited",
            Self::Storage(_) => "unavailable",
        }
    }

    /// For HTTP; a socket gets [`AUTH_ERROR_MESSAGE`].
    fn text(&self) -> Text {
        match self {
            Self::ChannelUnknown => Text::new("Canal não encontrado", "Channel not found"),
            Self::IdentityInvalid => Text::new(
                "Visitante desconhecido ou chave de sessão inválida",
                "Unknown visitor, or wrong session key",
            ),
            Self::TokenInvalid(_) => Text::new("Token inválido", "Invalid token"),
            Self::TokenExpired => Text::new("Token expirado", "Token expired"),
            Self::OriginRefused => Text::new("Origem não permitida", "Origin not allowed"),
            Self::RateLimited => {
                Text::new("Muitas visitas, aguarde um momento", "Too many visits, wait a moment")
            }
            Self::Storage(error) => error.text(),
        }
    }
}
