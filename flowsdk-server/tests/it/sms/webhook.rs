use std::time::Duration;

use flowsdk_auth::sms::{SmsError, SmsSender as _};
use flowsdk_server::sms::{SmsWebhook, WebhookSms};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use wiremock::matchers::{method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::{CODE, PATIENCE, refused, sms, unavailable};

const SECRET: &str = "the-secret-of-the-webhook";
const TOKEN: &str = "t0k3n-in-the-address";

fn sender(base: &str, timeout: Duration) -> WebhookSms {
    let url = format!("{base}/hook?token={TOKEN}").into();
    WebhookSms::new(SmsWebhook { url, secret: SECRET.into() }, timeout).expect("a client")
}

async fn answering(answer: ResponseTemplate) -> MockServer {
    let server = MockServer::start().await;
    Mock::given(method("POST")).and(path("/hook")).respond_with(answer).mount(&server).await;
    server
}

async fn send_to(server: &MockServer) -> Result<(), SmsError> {
    sender(&server.uri(), PATIENCE).send(&sms()).await
}

#[tokio::test]
async fn the_body_is_json_and_signed() {
    let server = answering(ResponseTemplate::new(202)).await;
    send_to(&server).await.expect("accepted");
    let requests = server.received_requests().await.expect("recorded");
    let [request] = requests.as_slice() else { panic!("not one request") };
    assert_eq!(
        String::from_utf8_lossy(&request.body),
        r#"{"to":"5511999990000","text":"Seu código: 493817 & mais","purpose":"password_recovery","messageId":"cm0000000000000000000001"}"#
    );
    assert_eq!(request.headers["content-type"], "application/json");
    assert_eq!(request.url.query(), Some("token=t0k3n-in-the-address"));
    let mut mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).expect("any key");
    mac.update(&request.body);
    let signature = request.headers["x-signature-256"].to_str().expect("text");
    assert_eq!(signature, format!("sha256={}", hex::encode(mac.finalize().into_bytes())));
}

/// The signature of a body, computed with another program (`openssl dgst -sha256 -hmac`).
#[tokio::test]
async fn the_signature_is_the_one_that_others_compute() {
    let server = answering(ResponseTemplate::new(200)).await;
    send_to(&server).await.expect("accepted");
    let requests = server.received_requests().await.expect("recorded");
    assert_eq!(
        requests[0].headers["x-signature-256"],
        "sha256=48a7e3e93064e404950f624ef0f86b909519dad413a6523c05db8bbb93d4e504"
    );
}

#[tokio::test]
async fn four_hundreds_are_for_good_and_the_rest_may_pass() {
    for (status, code) in [(400, "http_400"), (403, "http_403"), (410, "http_410")] {
        let server = answering(ResponseTemplate::new(status)).await;
        assert_eq!(refused(send_to(&server).await), code);
    }
    for status in [500, 503] {
        let server = answering(ResponseTemplate::new(status).set_body_string(CODE)).await;
        let text = unavailable(send_to(&server).await);
        assert!(text.contains(&status.to_string()) && !text.contains(CODE), "{text}");
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = answering(ResponseTemplate::new(200)).await;
    let answer = ResponseTemplate::new(307).insert_header("Location", format!("{}/hook", elsewhere.uri()));
    let server = answering(answer).await;
    unavailable(send_to(&server).await);
    assert!(elsewhere.received_requests().await.expect("recorded").is_empty());
}

#[tokio::test]
async fn nobody_waits_for_ever_and_no_error_tells_a_secret() {
    let server = answering(ResponseTemplate::new(200).set_delay(PATIENCE)).await;
    let sender_in_haste = sender(&server.uri(), Duration::from_millis(50));
    let late = unavailable(sender_in_haste.send(&sms()).await);
    // Port 9 of this host has no listener.
    let away = unavailable(sender("http://127.0.0.1:9", PATIENCE).send(&sms()).await);
    for text in [late, away, format!("{sender_in_haste:?}")] {
        for secret in [SECRET, TOKEN, CODE] {
            assert!(!text.contains(secret), "{secret} in {text}");
        }
    }
}
