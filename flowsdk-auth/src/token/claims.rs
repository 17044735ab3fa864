//! The claims of a JWT.

use flowsdk_core::id::UserId;
use flowsdk_core::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::TokenError;
use crate::principal::Principal;

/// The claims of an accepted token.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the fields say it")]
pub struct Claims {
    /// Whom it was issued to; always a user.
    pub principal: Principal,
    pub issued_at: IssuedAt,
    /// From this moment on it is not accepted.
    pub expires_at: Timestamp,
    /// `jti`, which refresh tokens have.
    pub token_id: Option<String>,
}

/// When a token was issued: to the second by `iat`, and to the millisecond by `iatMs` where it has one
/// (rulings A1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IssuedAt {
    /// The claim `iat`, in seconds.
    pub seconds: i64,
    /// The claim `iatMs`, in milliseconds.
    pub millis: Option<i64>,
}

impl IssuedAt {
    /// Returns whether a logout at `instant` voids the token. One issued in the very millisecond of the logout
    /// stands: a user who logs out and in again at once must not lose the new token. By `iat` alone the whole
    /// second of the logout counts as before it, because nobody can tell the order within it.
    pub fn is_before(&self, instant: Timestamp) -> bool {
        self.millis.unwrap_or_else(|| self.seconds.saturating_mul(1_000)) < instant.as_millis()
    }
}

/// The claims as they are written.
#[derive(Serialize)]
pub(super) struct Written<'a> {
    pub(super) iat: i64,
    pub(super) exp: i64,
    #[serde(rename = "iatMs")]
    pub(super) iat_ms: i64,
    pub(super) sub: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) jti: Option<&'a str>,
}

/// The claims as they are read; `exp` was checked before.
#[derive(Deserialize)]
pub(super) struct Read {
    iat: i64,
    #[serde(rename = "iatMs", default)]
    iat_ms: Option<i64>,
    sub: String,
    #[serde(default)]
    jti: Option<String>,
}

#[derive(Serialize)]
pub(super) struct WrittenSubject<'a> {
    pub(super) id: &'a UserId,
    pub(super) name: &'a str,
}

#[derive(Deserialize)]
struct Subject {
    id: UserId,
    name: String,
    #[serde(default)]
    kind: Option<Kind>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    User,
    ApiClient,
}

impl Read {
    pub(super) fn into_claims(self, expires_at: Timestamp) -> Result<Claims, TokenError> {
        let subject: Subject = serde_json::from_str(&self.sub).map_err(|_| TokenError::Subject)?;
        if matches!(subject.kind, Some(Kind::ApiClient)) {
            return Err(TokenError::ApiClient);
        }
        Ok(Claims {
            principal: Principal::User { id: subject.id, name: subject.name },
            issued_at: IssuedAt { seconds: self.iat, millis: self.iat_ms },
            expires_at,
            token_id: self.jti,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_from_before_the_logout_is_void() {
        let logout = Timestamp::from_millis(1_800_000_000_500);
        for (seconds, millis, void) in [
            (1_800_000_000, Some(1_800_000_000_499), true),
            (1_800_000_000, Some(1_800_000_000_500), false),
            (1_800_000_000, Some(1_800_000_000_501), false),
            (1_799_999_999, Some(1_799_999_999_999), true),
            (1_799_999_999, None, true),
            (1_800_000_000, None, true),
            (1_800_000_001, None, false),
            (i64::MIN, None, true),
        ] {
            assert_eq!(IssuedAt { seconds, millis }.is_before(logout), void, "{seconds} {millis:?}");
        }
        let on_the_second = Timestamp::from_millis(1_800_000_000_000);
        assert!(!IssuedAt { seconds: 1_800_000_000, millis: None }.is_before(on_the_second));
    }
}
