//! JSON Web Tokens under a shared secret: HS256 and nothing else (spec A 5.1, B 4.3).

use std::fmt;
use std::time::Duration;

use flowsdk_core::time::Timestamp;
use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation, decode, encode};
use secrecy::{ExposeSecret as _, SecretString};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Longest token, in bytes.
const MAX_TOKEN_BYTES: usize = 8 * 1024;

/// Why a token is not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum JwtError {
    /// It has more than 8 KiB.
    #[error("too long")]
    TooLong,
    /// It is not a JWT, or its claims have another shape; `exp` is always required.
    #[error("malformed")]
    Malformed,
    /// It is not signed with HS256.
    #[error("algorithm")]
    Algorithm,
    /// It was signed with another secret.
    #[error("signature")]
    Signature,
    /// `exp` is not after the present moment.
    #[error("expired")]
    Expired,
    /// `nbf` is more than [`LEEWAY`] after the present moment.
    #[error("not yet valid")]
    NotYet,
}

/// The time that the clock of a signer may be ahead, for `nbf` (RFC 7519 section 4.1.5).
pub const LEEWAY: Duration = Duration::from_secs(60);

/// A secret that tokens are signed with and checked against.
pub struct JwtKey {
    encoding: EncodingKey,
    decoding: DecodingKey,
    validation: Validation,
}

impl fmt::Debug for JwtKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JwtKey(..)")
    }
}

/// The content of an accepted token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified<C> {
    /// Its claims but for `exp`.
    pub claims: C,
    /// `exp`: from this moment on it is not accepted.
    pub expires_at: Timestamp,
}

#[derive(Deserialize)]
struct Expiring<C> {
    exp: i64,
    nbf: Option<i64>,
    #[serde(flatten)]
    claims: C,
}

impl JwtKey {
    /// Returns the key of `secret`.
    pub fn new(secret: &SecretString) -> Self {
        // The library needs a provider chosen once a process; it may have been chosen by the embedder.
        let _chosen_before = jsonwebtoken::crypto::aws_lc::DEFAULT_PROVIDER.install_default();
        let secret = secret.expose_secret().as_bytes();
        let mut validation = Validation::new(Algorithm::HS256);
        // Compared by us against the injected clock.
        validation.validate_exp = false;
        validation.validate_nbf = false;
        validation.validate_aud = false;
        validation.set_required_spec_claims(&["exp"]);
        Self {
            encoding: EncodingKey::from_secret(secret),
            decoding: DecodingKey::from_secret(secret),
            validation,
        }
    }

    /// Signs claims, which must hold `exp` in seconds to be accepted by [`Self::verify`].
    ///
    /// # Errors
    /// [`JwtError::Malformed`] for claims that are no JSON object.
    pub fn sign<C: Serialize>(&self, claims: &C) -> Result<SecretString, JwtError> {
        let token = encode(&Header::new(Algorithm::HS256), claims, &self.encoding);
        token.map(SecretString::from).map_err(|_| JwtError::Malformed)
    }

    /// Reads a token that was signed with this key and whose `exp` is, without any leeway, after `now`. Its `nbf`, if it
    /// has one, is at most [`LEEWAY`] after `now`.
    ///
    /// # Errors
    /// Any [`JwtError`].
    pub fn verify<C: DeserializeOwned>(&self, token: &str, now: Timestamp) -> Result<Verified<C>, JwtError> {
        if token.len() > MAX_TOKEN_BYTES {
            return Err(JwtError::TooLong);
        }
        let read = decode::<Expiring<C>>(token, &self.decoding, &self.validation);
        let read = read.map_err(|error| refused(error.kind()))?.claims;
        let expires_at = Timestamp::from_millis(read.exp.saturating_mul(1_000));
        if expires_at <= now {
            return Err(JwtError::Expired);
        }
        let begins_at = Timestamp::from_millis(read.nbf.unwrap_or(i64::MIN).saturating_mul(1_000));
        if begins_at > now + LEEWAY {
            return Err(JwtError::NotYet);
        }
        Ok(Verified { claims: read.claims, expires_at })
    }
}

fn refused(kind: &ErrorKind) -> JwtError {
    match kind {
        ErrorKind::InvalidSignature => JwtError::Signature,
        ErrorKind::InvalidAlgorithm | ErrorKind::InvalidAlgorithmName => JwtError::Algorithm,
        _ => JwtError::Malformed,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

    #[derive(Debug, PartialEq, Deserialize)]
    struct Claims {
        sub: String,
    }

    fn key(secret: &str) -> JwtKey {
        JwtKey::new(&secret.into())
    }

    fn outcome(token: &str) -> Result<Claims, JwtError> {
        key("secret").verify(token, NOW).map(|read| read.claims)
    }

    fn token(claims: &Value) -> String {
        key("secret").sign(claims).expect("signs").expose_secret().to_owned()
    }

    #[test]
    fn a_token_is_good_until_the_second_of_its_exp() {
        let until = |exp: i64| token(&json!({ "sub": "ana", "exp": exp }));
        assert_eq!(outcome(&until(1_800_000_001)), Ok(Claims { sub: "ana".to_owned() }));
        assert_eq!(outcome(&until(1_800_000_000)), Err(JwtError::Expired));
        assert_eq!(outcome(&until(0)), Err(JwtError::Expired));
        assert!(outcome(&until(i64::MIN)).is_err());
    }

    #[test]
    fn a_token_is_good_from_its_nbf_on() {
        let from = |nbf: Value| token(&json!({ "sub": "ana", "exp": 1_900_000_000, "nbf": nbf }));
        for good in [json!(0), json!(1_800_000_000), json!(1_800_000_060), Value::Null] {
            assert!(outcome(&from(good.clone())).is_ok(), "{good}");
        }
        assert_eq!(outcome(&from(json!(1_800_000_061))), Err(JwtError::NotYet));
        assert_eq!(outcome(&from(json!("1800000000"))), Err(JwtError::Malformed));
    }

    #[test]
    fn every_other_token_is_refused() {
        let good = json!({ "sub": "ana", "exp": 1_900_000_000 });
        let other_algorithm = |algorithm| {
            let signed = encode(&Header::new(algorithm), &good, &EncodingKey::from_secret(b"secret"));
            signed.expect("signs")
        };
        let body = token(&good).split('.').nth(1).expect("body").to_owned();
        for (name, token, why) in [
            (
                "wrong secret",
                {
                    let other = key("other").sign(&good).expect("signs");
                    other.expose_secret().to_owned()
                },
                JwtError::Signature,
            ),
            ("HS384", other_algorithm(Algorithm::HS384), JwtError::Algorithm),
            ("HS512", other_algorithm(Algorithm::HS512), JwtError::Algorithm),
            // {"alg":"none","typ":"JWT"}, {"alg":"RS256","typ":"JWT"}
            ("none", format!("eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.{body}."), JwtError::Malformed),
            ("RS256", format!("eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9.{body}.AAAA"), JwtError::Algorithm),
            ("no exp", token(&json!({ "sub": "ana" })), JwtError::Malformed),
            ("exp a text", token(&json!({ "sub": "ana", "exp": "1900000000" })), JwtError::Malformed),
            ("no sub", token(&json!({ "exp": 1_900_000_000 })), JwtError::Malformed),
            ("garbage", "a.b.c".to_owned(), JwtError::Malformed),
            ("empty", String::new(), JwtError::Malformed),
            ("too long", "a".repeat(9_000), JwtError::TooLong),
        ] {
            assert_eq!(outcome(&token), Err(why), "{name}");
        }
    }

    #[test]
    fn a_key_does_not_show_its_secret() {
        assert_eq!(format!("{:?}", key("secret")), "JwtKey(..)");
    }
}
