//! Embed tokens, good and bad.

use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use serde_json::{Value, json};

/// Seconds since 1970, as far from now as asked.
#[allow(clippy::disallowed_methods, reason = "a test that talks to a real server")]
pub fn in_seconds(seconds: i64) -> i64 {
    let now = std::time::SystemTime::now();
    let now = now.duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    i64::try_from(now).unwrap() + seconds
}

pub fn sign_with(algorithm: Algorithm, secret: &str, claims: &Value) -> String {
    let _chosen_before = jsonwebtoken::crypto::aws_lc::DEFAULT_PROVIDER.install_default();
    encode(&Header::new(algorithm), claims, &EncodingKey::from_secret(secret.as_bytes())).unwrap()
}

/// Signed as the contract says; `exp` in an hour unless `claims` has one.
pub fn sign(secret: &str, claims: Value) -> String {
    let mut claims = claims;
    if claims.get("exp").is_none() {
        claims["exp"] = json!(in_seconds(3_600));
    }
    sign_with(Algorithm::HS256, secret, &claims)
}
