use std::time::Duration;

use flowsdk_auth::sms::{SmsError, SmsSender as _};
use flowsdk_server::sms::{TwilioAccount, TwilioOrigin, TwilioSms};
use serde_json::json;
use wiremock::matchers::{body_string, header, method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::{CODE, PATIENCE, refused, sms, unavailable};

const TOKEN: &str = "the-auth-token";
const ENDPOINT: &str = "/2010-04-01/Accounts/AC123/Messages.json";
const CREATED: &str = include_str!("../../fixtures/sms/messages_create_201_create.json");
const CREATED_BY_SERVICE: &str =
    include_str!("../../fixtures/sms/messages_create_201_createwithmessagingservice.json");

fn sender(base: &str, origin: TwilioOrigin, timeout: Duration) -> TwilioSms {
    let account = TwilioAccount {
        account_sid: "AC123".to_owned(),
        auth_token: TOKEN.into(),
        origin,
        base_url: base.parse().expect("an address"),
    };
    TwilioSms::new(account, timeout).expect("a client")
}

fn number() -> TwilioOrigin {
    TwilioOrigin::From("+15005550006".to_owned())
}

async fn answering(answer: ResponseTemplate) -> MockServer {
    let server = MockServer::start().await;
    Mock::given(method("POST")).and(path(ENDPOINT)).respond_with(answer).mount(&server).await;
    server
}

async fn send_to(server: &MockServer) -> Result<(), SmsError> {
    sender(&server.uri(), number(), PATIENCE).send(&sms()).await
}

#[tokio::test]
async fn a_message_goes_out_as_the_api_wants_it() {
    let server = MockServer::start().await;
    Mock::given(method("POST"))
        .and(path(ENDPOINT))
        // `printf AC123:the-auth-token | base64`
        .and(header("authorization", "Basic QUMxMjM6dGhlLWF1dGgtdG9rZW4="))
        .and(header("content-type", "application/x-www-form-urlencoded"))
        .and(body_string("To=%2B5511999990000&From=%2B15005550006&Body=Seu+c%C3%B3digo%3A+493817+%26+mais"))
        .respond_with(ResponseTemplate::new(201).set_body_raw(CREATED, "application/json"))
        .expect(2)
        .mount(&server)
        .await;
    let sender = sender(&server.uri(), number(), PATIENCE);
    sender.send(&sms()).await.expect("accepted");
    let mut with_plus = sms();
    with_plus.to.insert(0, '+');
    sender.send(&with_plus).await.expect("accepted");
}

#[tokio::test]
async fn a_messaging_service_chooses_the_number_and_a_base_may_have_a_path() {
    let server = MockServer::start().await;
    Mock::given(path(format!("/eu{ENDPOINT}")))
        .and(body_string(
            "To=%2B5511999990000&MessagingServiceSid=MG1&Body=Seu+c%C3%B3digo%3A+493817+%26+mais",
        ))
        .respond_with(ResponseTemplate::new(201).set_body_raw(CREATED_BY_SERVICE, "application/json"))
        .mount(&server)
        .await;
    let origin = TwilioOrigin::MessagingService("MG1".to_owned());
    let base = format!("{}/eu/", server.uri());
    sender(&base, origin, PATIENCE).send(&sms()).await.expect("accepted");
}

#[tokio::test]
async fn a_refusal_carries_the_code_of_the_provider() {
    let body = json!({ "code": 21211, "message": "Invalid 'To' Phone Number: +5511999990000",
                       "more_info": "https://www.twilio.com/docs/errors/21211", "status": 400 });
    let server = answering(ResponseTemplate::new(400).set_body_json(body)).await;
    assert_eq!(refused(send_to(&server).await), "21211");
    let server = answering(ResponseTemplate::new(401).set_body_string("<html>")).await;
    assert_eq!(refused(send_to(&server).await), "http_401");
}

#[tokio::test]
async fn too_many_requests_and_faults_of_theirs_may_pass() {
    let body = json!({ "code": 20429, "message": "Too Many Requests", "status": 429 });
    for status in [429, 400] {
        let server = answering(ResponseTemplate::new(status).set_body_json(&body)).await;
        unavailable(send_to(&server).await);
    }
    let server = answering(ResponseTemplate::new(503)).await;
    assert!(unavailable(send_to(&server).await).contains("HTTP 503"));
}

#[tokio::test]
async fn a_text_that_is_too_long_is_refused_and_never_cut() {
    let server = answering(ResponseTemplate::new(201)).await;
    let sender = sender(&server.uri(), number(), PATIENCE);
    let mut long = sms();
    long.text = "ç".repeat(1_600).into();
    sender.send(&long).await.expect("as long as may be");
    long.text = "ç".repeat(1_601).into();
    assert_eq!(refused(sender.send(&long).await), "21617");
    assert_eq!(server.received_requests().await.expect("recorded").len(), 1);
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = answering(ResponseTemplate::new(201)).await;
    let location = format!("{}{ENDPOINT}", elsewhere.uri());
    let server = answering(ResponseTemplate::new(308).insert_header("Location", location)).await;
    unavailable(send_to(&server).await);
    assert!(elsewhere.received_requests().await.expect("recorded").is_empty());
}

#[tokio::test]
async fn nobody_waits_for_ever_and_no_error_tells_a_secret() {
    let server = answering(ResponseTemplate::new(201).set_delay(PATIENCE)).await;
    let sender_in_haste = sender(&server.uri(), number(), Duration::from_millis(50));
    let late = unavailable(sender_in_haste.send(&sms()).await);
    let away = unavailable(sender("http://127.0.0.1:9", number(), PATIENCE).send(&sms()).await);
    for text in [late, away, format!("{sender_in_haste:?}")] {
        for secret in [TOKEN, CODE, "5511999990000"] {
            assert!(!text.contains(secret), "{secret} in {text}");
        }
    }
}
