//! Embed tokens: JWTs that the hosting application signs with the channel's embed secret (spec B 4.3).

use flowsdk_core::contact::clean_name;
use flowsdk_core::id::{FlowId, VisitorId};
use flowsdk_core::time::Timestamp;
use flowsdk_crypto::{JwtError, JwtKey};
use secrecy::SecretString;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::AuthError;
use super::context::Context;

/// Longest contact name, in characters.
const MAX_NAME_CHARS: usize = 200;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Claims {
    sub: String,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    context: Option<Map<String, Value>>,
    #[serde(default)]
    flow_id: Option<String>,
}

/// The claims of an accepted token.
#[derive(Debug, Clone, PartialEq)]
pub struct EmbedToken {
    /// `sub`: the stable identity of the visitor.
    pub visitor: VisitorId,
    /// `name`: becomes the contact's name.
    pub name: Option<String>,
    /// Session variables from the claim `context`.
    pub context: Context,
    /// `flowId`, not yet checked against the router. A text that is not an id is ignored like one of another
    /// router.
    pub flow_id: Option<FlowId>,
}

/// Checks a token against the channel's secret: HS256 and nothing else, `exp` required and, without any
/// leeway, after `now`, `nbf` before it.
///
/// # Errors
/// [`AuthError::TokenInvalid`] or [`AuthError::TokenExpired`].
pub fn verify(token: &str, secret: &SecretString, now: Timestamp) -> Result<EmbedToken, AuthError> {
    let claims: Claims = JwtKey::new(secret).verify(token, now).map_err(refused)?.claims;
    let visitor = VisitorId::parse(claims.sub).map_err(|_| AuthError::TokenInvalid("sub is not usable"))?;
    let name = claims.name.map(|name| clean_name(&name).chars().take(MAX_NAME_CHARS).collect::<String>());
    Ok(EmbedToken {
        visitor,
        name: name.filter(|name| !name.is_empty()),
        context: Context::new(claims.context.unwrap_or_default()),
        flow_id: claims.flow_id.and_then(|id| FlowId::parse(id).ok()),
    })
}

fn refused(error: JwtError) -> AuthError {
    AuthError::TokenInvalid(match error {
        JwtError::Expired => return AuthError::TokenExpired,
        JwtError::Signature => "signature",
        JwtError::Algorithm => "algorithm",
        JwtError::TooLong => "too long",
        JwtError::NotYet => "not yet valid",
        JwtError::Malformed => "malformed",
    })
}

#[cfg(test)]
mod tests {
    use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
    use serde_json::json;

    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);
    const LATER: i64 = 1_800_000_300;

    fn token(algorithm: Algorithm, secret: &str, claims: &Value) -> String {
        let _chooses_crypto = JwtKey::new(&secret.into());
        encode(&Header::new(algorithm), claims, &EncodingKey::from_secret(secret.as_bytes()))
            .expect("encodes")
    }

    fn outcome(token: &str) -> Result<EmbedToken, &'static str> {
        verify(token, &"secret".into(), NOW).map_err(|error| match error {
            AuthError::TokenExpired => "expired",
            AuthError::TokenInvalid(why) => why,
            _ => "other",
        })
    }

    #[test]
    fn a_good_token_gives_identity_name_context_and_flow() {
        let claims = json!({ "sub": "ana@example.com", "name": " Ana\u{202e} ", "context": { "plan": "pro", "x-y": 1 },
            "flowId": "cflow", "exp": LATER });
        let read = outcome(&token(Algorithm::HS256, "secret", &claims)).expect("accepted");
        assert_eq!((read.visitor.as_str(), read.name.as_deref()), ("ana@example.com", Some("Ana")));
        assert_eq!(Value::from(read.context.variables), json!({ "plan": "pro" }));
        assert_eq!(read.flow_id, FlowId::parse("cflow").ok());
    }

    #[test]
    fn every_other_token_is_refused() {
        let good = json!({ "sub": "ana", "exp": LATER });
        let none = {
            let signed = token(Algorithm::HS256, "secret", &good);
            let body = signed.split('.').nth(1).expect("body").to_owned();
            // {"alg":"none","typ":"JWT"}
            format!("eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.{body}.")
        };
        for (name, token, why) in [
            ("wrong key", token(Algorithm::HS256, "other", &good), "signature"),
            ("HS512", token(Algorithm::HS512, "secret", &good), "algorithm"),
            ("alg none", none, "malformed"),
            ("no exp", token(Algorithm::HS256, "secret", &json!({ "sub": "ana" })), "malformed"),
            ("no sub", token(Algorithm::HS256, "secret", &json!({ "exp": LATER })), "malformed"),
            (
                "expired",
                token(Algorithm::HS256, "secret", &json!({ "sub": "ana", "exp": 1_800_000_000 })),
                "expired",
            ),
            (
                "bad sub",
                token(Algorithm::HS256, "secret", &json!({ "sub": "a b", "exp": LATER })),
                "sub is not usable",
            ),
            (
                "context no object",
                token(Algorithm::HS256, "secret", &json!({ "sub": "a", "exp": LATER, "context": 1 })),
                "malformed",
            ),
            ("garbage", "a.b.c".to_owned(), "malformed"),
            ("empty", String::new(), "malformed"),
            ("too long", "a".repeat(9_000), "too long"),
        ] {
            assert_eq!(outcome(&token).map(drop), Err(why), "{name}");
        }
    }
}
