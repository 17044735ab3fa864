//! Walks the document: every documented operation answers, and nothing else does.

use axum::Router;
use axum::body::Body;
use axum::response::Response;
use http::{Method, Request, header};
use serde_json::Value;
use tower::ServiceExt as _;

use crate::app::{Adapters, App};
use crate::config::{Config, Environment};

const METHODS: [Method; 5] = [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE];

async fn router() -> Router {
    let value = |name: &str| match name {
        "DATABASE_URL" => Some("sqlite::memory:"),
        "CRYPTO_SECRET" => Some("0123456789abcdef0123456789abcdef"),
        "JWT_ACCESS_SECRET" => Some("access-secret-of-a-test"),
        "JWT_REFRESH_SECRET" => Some("refresh-secret-of-a-test"),
        _ => None,
    };
    let mut config =
        Config::read(Environment::new(|name| value(name).map(str::to_owned))).expect("a configuration");
    config.roles = "api".parse().expect("a role");
    App::build(config, Adapters::system()).await.expect("an app").router()
}

async fn answer(
    router: &Router,
    method: &Method,
    path: &str,
    authorization: Option<&str>,
) -> (Response, Value) {
    let mut request = Request::builder().method(method).uri(path);
    if let Some(value) = authorization {
        request = request.header(header::AUTHORIZATION, value);
    }
    let request = request.body(Body::empty()).expect("a request");
    let (parts, body) = router.clone().oneshot(request).await.expect("an answer").into_parts();
    let bytes = axum::body::to_bytes(body, 1 << 20).await.expect("a body");
    (Response::from_parts(parts, Body::empty()), serde_json::from_slice(&bytes).unwrap_or_default())
}

fn document() -> Value {
    serde_json::to_value(crate::api::document()).expect("json")
}

#[tokio::test]
async fn every_operation_answers_on_both_paths_and_no_other_method_does() {
    let router = router().await;
    for (path, item) in document()["paths"].as_object().expect("paths") {
        if ["/webchat/test/messages", "/media/{id}/content"].contains(&path.as_str()) {
            // Served beside the API, to callers whom it knows by itself (tests/it/api/test_channel.rs, phone/media.rs).
            continue;
        }
        let concrete = path.replace("{id}", "cmi7w0q2p00000qx1b3k9z5ra");
        for (prefix, method) in
            ["", "/api"].iter().flat_map(|prefix| METHODS.iter().map(move |m| (prefix, m)))
        {
            let place = format!("{method} {prefix}{concrete}");
            let operation = &item[method.as_str().to_lowercase()];
            let (response, body) = answer(&router, method, &format!("{prefix}{concrete}"), None).await;
            if operation.is_null() {
                assert_eq!(
                    (response.status().as_u16(), &body["code"]),
                    (405, &"method_not_allowed".into()),
                    "{place}"
                );
                assert!(response.headers().contains_key(header::ALLOW), "{place}");
                continue;
            }
            // Without a token nobody gets further than the guard; without a body nobody else gets far.
            let expected = match (operation["x-permission"].as_str(), operation["requestBody"].is_object()) {
                (Some("public"), true) => 415,
                _ => 401,
            };
            assert_eq!(response.status().as_u16(), expected, "{place}: {body}");
            assert!(!operation["responses"][expected.to_string()].is_null(), "{place} documents {expected}");
        }
    }
}

#[tokio::test]
async fn what_is_no_path_of_the_document_is_not_found() {
    let router = router().await;
    for path in ["/api", "/api/api/users", "/users/", "/users/a/b", "/Users", "/docs/nothing", "/api/docs"] {
        let (response, body) = answer(&router, &Method::GET, path, None).await;
        assert_eq!(response.status().as_u16(), 404, "{path}: {body}");
    }
    for path in ["/openapi.json", "/api/openapi.json"] {
        assert_eq!(answer(&router, &Method::GET, path, None).await.1, document());
    }
    for path in ["/asyncapi.json", "/api/asyncapi.json"] {
        assert_eq!(answer(&router, &Method::GET, path, None).await.1["asyncapi"], "3.0.0");
    }
}

#[tokio::test]
async fn tokens_that_are_none_are_refused_before_anything_is_read() {
    let router = router().await;
    for (value, code) in
        [("Bearer", "token_missing"), ("Bearer fai_none", "token_invalid"), ("Bearer x.y.z", "token_invalid")]
    {
        let (response, body) = answer(&router, &Method::POST, "/users", Some(value)).await;
        assert_eq!((response.status().as_u16(), body["code"].as_str()), (401, Some(code)), "{value}");
        assert_eq!(response.headers()["www-authenticate"], "Bearer");
    }
}
