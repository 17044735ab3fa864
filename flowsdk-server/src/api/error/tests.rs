use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use axum::body::{Body, to_bytes};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::Cuids;
use flowsdk_core::text::Language;
use flowsdk_core::time::ManualClock;
use http::Request;
use serde_json::{Value, json};
use tower::{Layer as _, ServiceExt as _, service_fn};

use super::*;
use crate::api::Identify;

/// The answer to a request that fails with `error`.
async fn body(error: ApiError) -> (Response, Value) {
    let error = Mutex::new(Some(error));
    let fails = service_fn(|_request: Request<Body>| {
        let error = error.lock().expect("not poisoned").take().expect("one request");
        async { Ok::<_, Infallible>(error.into_response()) }
    });
    let ids = Arc::new(Cuids::new(ManualClock::default()));
    let Ok(response) =
        Identify::new(ids, Language::Portuguese).layer(fails).oneshot(Request::default()).await;
    let (parts, body) = response.into_parts();
    let bytes = to_bytes(body, 10_000).await.expect("bytes");
    let value = serde_json::from_slice(&bytes).expect("json");
    (Response::from_parts(parts, axum::body::Body::empty()), value)
}

#[tokio::test]
async fn the_body_has_code_message_and_request_id() {
    let (response, body) = body(ApiError::not_found()).await;
    assert_eq!(response.status(), 404);
    assert_eq!(response.headers()["content-type"], "application/json");
    assert_eq!(response.headers()["cache-control"], "no-store");
    assert_eq!(body["code"], "not_found");
    assert_eq!(body["message"], "Não encontrado");
    assert_eq!(body["requestId"].as_str().map(str::len), Some(25));
    assert_eq!(body.get("details"), None);
}

#[tokio::test]
async fn details_name_each_field_once() {
    let mut problems = Problems::default();
    problems.add("name", Text::new("a", "b"));
    problems.add("name", Text::new("c", "d"));
    problems.add("x".repeat(1_000), Text::new("e", "f"));
    let (_, body) = body(ApiError::invalid(problems)).await;
    let details = json!([{ "field": "name", "message": "a" }, { "field": "x".repeat(200), "message": "e" }]);
    assert_eq!((&body["code"], &body["details"]), (&json!("validation_failed"), &details));
}

#[test]
fn a_fault_has_a_thousand_details_and_the_number_of_the_others() {
    let of = |count: usize| {
        let found = (0..count).map(|n| (n.to_string(), Text::new("a", "b"))).collect();
        ApiError::of(&flowsdk_core::transfer::TransferError::Invalid(found))
    };
    assert_eq!(of(1_000).details().len(), 1_000);
    let many = of(5_000);
    let last = many.details().last().expect("details");
    assert_eq!((many.details().len(), last.field()), (1_001, ""));
    assert_eq!((last.message().portuguese(), last.message().english()), ("E mais 4000", "And 4000 more"));
}

#[tokio::test]
async fn a_401_challenges_and_a_429_says_when() {
    let error =
        ApiError::new(StatusCode::UNAUTHORIZED, "token_missing", Text::new("Token não informado", ""));
    assert_eq!(body(error).await.0.headers()["www-authenticate"], "Bearer");
    for (wait, seconds) in [(0, "1"), (1, "1"), (1_000, "1"), (1_001, "2")] {
        let error = ApiError::internal().retry_after(Duration::from_millis(wait));
        assert_eq!(body(error).await.0.headers()["retry-after"], seconds, "{wait} ms");
    }
}

#[tokio::test]
async fn a_fault_of_ours_shows_nothing_of_its_cause() {
    let fault = StorageError::Corrupt { entity: "user", reason: "the secret is xyz".to_owned() };
    let (response, body) = body(ApiError::from(fault)).await;
    assert_eq!((response.status(), &body["code"]), (StatusCode::INTERNAL_SERVER_ERROR, &json!("internal")));
    assert!(!body.to_string().contains("xyz"));
}
