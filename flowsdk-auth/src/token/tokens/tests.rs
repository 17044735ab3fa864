use flowsdk_core::id::Cuids;
use flowsdk_core::time::ManualClock;
use flowsdk_crypto::JwtError;
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};

use super::super::IssuedAt;
use super::*;
use crate::principal::Principal;

const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_123);
const ACCESS: &str = "access-secret-of-the-test";
const REFRESH: &str = "refresh-secret-of-the-test";

fn settings() -> TokenSettings {
    TokenSettings {
        access_secret: ACCESS.into(),
        refresh_secret: REFRESH.into(),
        access_lifetime: Duration::from_secs(60),
        refresh_lifetime: Duration::from_secs(3_600),
    }
}

fn ana() -> UserId {
    UserId::parse("cana").expect("an id")
}

fn pair() -> TokenPair {
    Tokens::new(settings()).issue(&ana(), "Ana \"\\ é", NOW, &Cuids::new(ManualClock::at(0)))
}

fn signed(claims: &Value) -> String {
    JwtKey::new(&ACCESS.into()).sign(claims).expect("signs").expose_secret().to_owned()
}

/// The content of a token, whoever signed it.
fn payload(token: &SecretString, secret: &str) -> Value {
    let read = JwtKey::new(&secret.into()).verify::<Value>(token.expose_secret(), NOW).expect("accepted");
    let mut claims = read.claims;
    claims["exp"] = json!(read.expires_at.as_millis() / 1_000);
    claims
}

#[test]
fn both_tokens_say_the_same_and_nothing_about_rights() {
    let pair = pair();
    let sub = "{\"id\":\"cana\",\"name\":\"Ana \\\"\\\\ é\"}";
    let access = payload(&pair.access, ACCESS);
    assert_eq!(
        access,
        json!({ "iat": 1_800_000_000, "exp": 1_800_000_060, "iatMs": 1_800_000_000_123_i64, "sub": sub })
    );
    let mut refresh = payload(&pair.refresh, REFRESH);
    let jti = refresh.as_object_mut().expect("an object").remove("jti").expect("a jti");
    assert!(jti.as_str().is_some_and(|jti| jti.len() == 24));
    assert_eq!(refresh["exp"].take(), json!(1_800_003_600));
    refresh["exp"] = access["exp"].clone();
    assert_eq!(refresh, access);
}

#[test]
fn a_token_is_read_back() {
    let (tokens, pair) = (Tokens::new(settings()), pair());
    let read = tokens.verify_access(pair.access.expose_secret(), NOW).expect("accepted");
    assert_eq!(read.principal, Principal::User { id: ana(), name: "Ana \"\\ é".to_owned() });
    assert_eq!(read.issued_at, IssuedAt { seconds: 1_800_000_000, millis: Some(NOW.as_millis()) });
    assert_eq!((read.token_id, read.expires_at), (None, Timestamp::from_millis(1_800_000_060_000)));
    let read = tokens.verify_refresh(pair.refresh.expose_secret(), NOW).expect("accepted");
    assert!(read.token_id.is_some());
}

#[test]
fn the_clock_given_decides_about_the_end() {
    let (tokens, pair) = (Tokens::new(settings()), pair());
    let access = pair.access.expose_secret();
    let end = 1_800_000_060_000;
    assert!(tokens.verify_access(access, Timestamp::from_millis(end - 1)).is_ok());
    for late in [end, end + 1, i64::MAX] {
        assert_eq!(
            tokens.verify_access(access, Timestamp::from_millis(late)),
            Err(TokenError::Jwt(JwtError::Expired))
        );
    }
}

#[test]
fn one_kind_of_token_is_not_the_other() {
    let (tokens, pair) = (Tokens::new(settings()), pair());
    let signature = Err(TokenError::Jwt(JwtError::Signature));
    assert_eq!(tokens.verify_access(pair.refresh.expose_secret(), NOW), signature);
    assert_eq!(tokens.verify_refresh(pair.access.expose_secret(), NOW), signature);
}

#[test]
fn a_token_of_anything_but_a_user_is_refused() {
    let tokens = Tokens::new(settings());
    let with = |sub: Value| signed(&json!({ "iat": 1_800_000_000, "exp": 1_900_000_000, "sub": sub }));
    let outcome = |token: &str| tokens.verify_access(token, NOW).map(|claims| claims.principal);
    let user = Principal::User { id: ana(), name: "Ana".to_owned() };
    assert_eq!(outcome(&with(json!(r#"{"id":"cana","name":"Ana"}"#))), Ok(user.clone()));
    assert_eq!(outcome(&with(json!(r#"{"id":"cana","name":"Ana","kind":"user"}"#))), Ok(user));
    assert_eq!(
        outcome(&with(json!(r#"{"id":"cana","name":"Ana","kind":"api_client"}"#))),
        Err(TokenError::ApiClient)
    );
    for sub in [
        "",
        "cana",
        "null",
        "[]",
        r#""cana""#,
        r#"{"name":"Ana"}"#,
        r#"{"id":7,"name":"Ana"}"#,
        r#"{"id":"","name":"Ana"}"#,
        r#"{"id":"a b","name":"Ana"}"#,
        r#"{"id":"cana","name":"Ana","kind":"root"}"#,
    ] {
        assert_eq!(outcome(&with(json!(sub))), Err(TokenError::Subject), "{sub}");
    }
    for (name, claims) in [
        ("sub an object", json!({ "iat": 1, "exp": 1_900_000_000, "sub": { "id": "cana", "name": "Ana" } })),
        ("no sub", json!({ "iat": 1, "exp": 1_900_000_000 })),
        ("no iat", json!({ "exp": 1_900_000_000, "sub": r#"{"id":"cana","name":"Ana"}"# })),
        ("no exp", json!({ "iat": 1, "sub": r#"{"id":"cana","name":"Ana"}"# })),
    ] {
        assert_eq!(outcome(&signed(&claims)), Err(TokenError::Jwt(JwtError::Malformed)), "{name}");
    }
}

#[test]
fn nothing_shows_a_secret_or_a_token() {
    let pair = pair();
    let shown = format!("{:?} {:?} {pair:?}", settings(), Tokens::new(settings()));
    for secret in [ACCESS, REFRESH, pair.access.expose_secret(), pair.refresh.expose_secret()] {
        assert!(!shown.contains(secret), "{shown}");
    }
}
