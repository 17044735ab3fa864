//! Why a JWT is not accepted.

use flowsdk_core::fault::Fault;
use flowsdk_crypto::JwtError;

/// The reason, for logs and for embedders; a caller over HTTP is told one and the same text (spec A 5.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error, Fault)]
#[non_exhaustive]
#[fault(Unauthenticated, "token_invalid", pt = "Token JWT inválido", en = "Invalid JWT")]
pub enum TokenError {
    /// Form, algorithm, signature or `exp`.
    #[error("token not acceptable: {0}")]
    Jwt(#[from] JwtError),
    /// `sub` is not a JSON text of a principal with a usable id.
    #[error("token of nobody: sub is not usable")]
    Subject,
    /// `sub` names an API client. Those have static tokens; a JWT never gives anybody their rights.
    #[error("token of an API client")]
    ApiClient,
    /// A refresh token without `jti`, where each may be used once.
    #[error("token without an id")]
    Unnamed,
}
