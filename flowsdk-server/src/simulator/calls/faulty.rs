//! What goes wrong around a call.

use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;

use super::{broken, refusal};
use crate::simulator::fault::{CallKind, Fault};
use crate::simulator::media::MOST;
use crate::simulator::provider::Provider;

/// Why a call fails that was to fail.
pub(super) const AS_TOLD: &str = "As it was told to";

/// Room for what stands around a file in the body of its upload.
const AROUND_A_FILE: usize = 1 << 20;

/// Does what is to go wrong in a call of the request's kind.
pub(super) async fn go_wrong(State(provider): State<Provider>, request: Request, next: Next) -> Response {
    let call = CallKind::at(request.uri().path(), |id| provider.media(id).is_some());
    let Some(fault) = provider.state().begin_call(call) else { return next.run(request).await };
    // A client that is answered before it has sent its body may take that for a lost connection.
    let (head, body) = request.into_parts();
    let Ok(body) = to_bytes(body, MOST + AROUND_A_FILE).await else { return broken() };
    let request = Request::from_parts(head, Body::from(body));
    around(Some(fault), async || next.run(request).await).await
}

/// Returns the answer of a call in which a fault comes about.
pub(super) async fn around(fault: Option<Fault>, answer: impl AsyncFnOnce() -> Response) -> Response {
    match fault {
        Some(Fault::Refuse { code, retry_after }) => return refusal(code, AS_TOLD, retry_after),
        Some(Fault::Drop) => return broken(),
        Some(Fault::Delay { millis }) => tokio::time::sleep(Duration::from_millis(millis)).await,
        Some(Fault::LoseAnswer | Fault::FailStatus { .. }) | None => {}
    }
    let answer = answer().await;
    if fault == Some(Fault::LoseAnswer) && answer.status().is_success() { broken() } else { answer }
}

#[cfg(test)]
mod tests {
    use http::{Request, StatusCode};
    use http_body_util::BodyExt as _;
    use serde_json::{Value, json};
    use tower::ServiceExt as _;

    use super::*;

    /// The status and body of an answer; `None` of one that breaks off.
    async fn call(
        provider: &Provider,
        method: &str,
        path: &str,
        body: &Value,
    ) -> Option<(StatusCode, Value)> {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("authorization", "Bearer a-token")
            .body(Body::from(body.to_string()))
            .expect("a request");
        let answer = super::super::routes(provider.clone()).oneshot(request).await.expect("an answer");
        let status = answer.status();
        let body = answer.into_body().collect().await.ok()?.to_bytes();
        Some((status, serde_json::from_slice(&body).unwrap_or_default()))
    }

    #[tokio::test]
    async fn calls_of_every_kind_fail_with_any_code() {
        let provider = Provider::of_tests(None);
        let file = provider.add_media("image/png", None, "x".into());
        let text = json!({ "messaging_product": "whatsapp", "to": "5511987654321", "type": "text", "text": { "body": "x" } });
        let nothing = Value::Null;
        for (kind, method, path, body) in [
            (CallKind::Send, "POST", "/v24.0/111/messages", &text),
            (CallKind::Media, "GET", &*format!("/v24.0/{file}"), &nothing),
            (CallKind::Media, "GET", &*format!("/media/{file}"), &nothing),
            (CallKind::Template, "GET", "/v24.0/900/message_templates", &nothing),
            (CallKind::Profile, "GET", "/v24.0/111/whatsapp_business_profile", &nothing),
            (CallKind::Key, "GET", "/v24.0/111/whatsapp_business_encryption", &nothing),
            (CallKind::Number, "GET", "/v24.0/111", &nothing),
            (CallKind::Number, "GET", "/v24.0/900/subscribed_apps", &nothing),
        ] {
            for (code, status) in [(10, StatusCode::FORBIDDEN), (131_016, StatusCode::INTERNAL_SERVER_ERROR)]
            {
                provider.fail_next_of(kind, Fault::Refuse { code, retry_after: None });
                let answer = call(&provider, method, path, body).await.expect("an answer");
                assert_eq!((answer.0, &answer.1["error"]["code"]), (status, &json!(code)), "{path}");
            }
            for fault in [Fault::LoseAnswer, Fault::Drop] {
                provider.fail_next_of(kind, fault);
                assert_eq!(call(&provider, method, path, body).await, None, "{path}");
            }
            let answer = call(&provider, method, path, body).await.expect("an answer");
            assert_eq!(answer.0, StatusCode::OK, "{path}: {}", answer.1);
        }
        assert_eq!((provider.calls(), provider.sent().len()), (5, 2), "a lost answer was a message");
    }

    #[tokio::test]
    async fn a_change_whose_answer_is_lost_is_made_and_one_that_is_dropped_is_not() {
        let provider = Provider::of_tests(None);
        let path = "/v24.0/111/whatsapp_business_profile";
        for (fault, about) in [(Fault::Drop, None), (Fault::LoseAnswer, Some("Pães"))] {
            provider.fail_next_of(CallKind::Profile, fault);
            let change = json!({ "messaging_product": "whatsapp", "about": "Pães" });
            assert_eq!(call(&provider, "POST", path, &change).await, None);
            assert_eq!(provider.profile("111").about.as_deref(), about);
        }
    }
}
