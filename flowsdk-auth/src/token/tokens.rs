//! Issues and checks the JWTs of users.

use std::fmt;
use std::time::Duration;

use flowsdk_core::fault::Chain;
use flowsdk_core::id::{IdSource, UserId};
use flowsdk_core::time::Timestamp;
use flowsdk_crypto::JwtKey;
use secrecy::SecretString;

use super::claims::{Read, Written, WrittenSubject};
use super::{Claims, TokenError};

/// The secrets and lifetimes of both kinds of tokens.
#[derive(Debug, Clone)]
pub struct TokenSettings {
    /// The secret of access tokens: `JWT_ACCESS_SECRET`.
    pub access_secret: SecretString,
    /// `JWT_REFRESH_SECRET`. It must be another one: the secret is all that tells the two kinds of tokens
    /// apart.
    pub refresh_secret: SecretString,
    /// `JWT_ACCESS_EXPIRES_IN`; counts in whole seconds.
    pub access_lifetime: Duration,
    /// `JWT_REFRESH_EXPIRES_IN`; counts in whole seconds.
    pub refresh_lifetime: Duration,
}

/// The tokens of a login.
#[derive(Debug, Clone)]
pub struct TokenPair {
    /// Lets its bearer in.
    pub access: SecretString,
    /// Obtains a new pair.
    pub refresh: SecretString,
}

/// Signs and verifies the tokens of users.
pub struct Tokens {
    access: JwtKey,
    refresh: JwtKey,
    access_lifetime: Duration,
    refresh_lifetime: Duration,
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tokens(..)")
    }
}

impl Tokens {
    /// Tokens under these settings.
    pub fn new(settings: TokenSettings) -> Self {
        Self {
            access: JwtKey::new(&settings.access_secret),
            refresh: JwtKey::new(&settings.refresh_secret),
            access_lifetime: settings.access_lifetime,
            refresh_lifetime: settings.refresh_lifetime,
        }
    }

    /// Two tokens for a user, issued at `now`. Both say the same (spec A 5.1) but for `exp` and for the `jti`
    /// of the refresh token, by which it can be one-time (rulings A2).
    pub fn issue(&self, user: &UserId, name: &str, now: Timestamp, ids: &dyn IdSource) -> TokenPair {
        let subject = serde_json::to_string(&WrittenSubject { id: user, name }).unwrap_or_default();
        let token_id = ids.secret(1);
        let sign = |key: &JwtKey, lifetime: Duration, jti| {
            let issued = now.as_millis();
            let iat = issued.div_euclid(1_000);
            let lifetime = i64::try_from(lifetime.as_secs()).unwrap_or(i64::MAX);
            let exp = iat.saturating_add(lifetime);
            let claims = Written { iat, exp, iat_ms: issued, sub: &subject, jti };
            key.sign(&claims).unwrap_or_else(|error| {
                // Texts and numbers are always JSON, and HMAC takes any key. Were it to fail all the same,
                // the empty token is one that nobody accepts.
                tracing::error!(error = %Chain(&error), "a token could not be signed");
                SecretString::default()
            })
        };
        TokenPair {
            access: sign(&self.access, self.access_lifetime, None),
            refresh: sign(&self.refresh, self.refresh_lifetime, Some(&token_id)),
        }
    }

    /// Returns the claims of an access token.
    ///
    /// # Errors
    /// [`TokenError`] for any token that is not one of ours and good at `now`.
    pub fn verify_access(&self, token: &str, now: Timestamp) -> Result<Claims, TokenError> {
        verify(&self.access, token, now)
    }

    /// Returns the claims of a refresh token.
    ///
    /// # Errors
    /// [`TokenError`] for any token that is not one of ours and good at `now`.
    pub fn verify_refresh(&self, token: &str, now: Timestamp) -> Result<Claims, TokenError> {
        verify(&self.refresh, token, now)
    }
}

fn verify(key: &JwtKey, token: &str, now: Timestamp) -> Result<Claims, TokenError> {
    let read = key.verify::<Read>(token, now)?;
    read.claims.into_claims(read.expires_at)
}

#[cfg(test)]
mod tests;
