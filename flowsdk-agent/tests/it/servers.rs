//! Servers that answer well, badly, late or not at all.

use std::time::Duration;

use flowsdk_agent::model::{Answer, Item, Known, ModelError, ModelProvider as _, ModelRequest};
use flowsdk_agent::openai::{OpenAi, Shape};
use flowsdk_core::integration::BaseUrl;
use serde_json::{Value, json};
use wiremock::{Mock, MockServer, ResponseTemplate, matchers};

/// An account at a server.
pub(crate) fn server_at(server: &MockServer, shape: Shape) -> OpenAi {
    account(&server.uri(), Duration::from_mins(1), shape)
}

fn account(address: &str, timeout: Duration, shape: Shape) -> OpenAi {
    let client = reqwest::Client::builder().timeout(timeout).no_proxy().build().expect("a client");
    let base = BaseUrl::parse(format!("{address}/v1")).expect("an address");
    OpenAi::new(client, base, "sk-secret".to_owned().into(), shape)
}

pub(crate) async fn ask(server: &OpenAi, items: &[Item]) -> Result<Answer, ModelError> {
    let request = ModelRequest {
        model: "gpt",
        instructions: "Be kind.",
        items,
        known: None,
        tools: &[],
        max_output_tokens: None,
    };
    server.answer(request).await
}

async fn answering(path: &str, answer: ResponseTemplate) -> MockServer {
    let server = MockServer::start().await;
    let asked = Mock::given(matchers::method("POST")).and(matchers::path(path));
    asked
        .and(matchers::header("authorization", "Bearer sk-secret"))
        .respond_with(answer)
        .mount(&server)
        .await;
    server
}

fn completion(message: Value) -> ResponseTemplate {
    ResponseTemplate::new(200)
        .set_body_json(json!({ "choices": [{ "message": message, "finish_reason": "stop" }] }))
}

#[tokio::test]
async fn a_server_of_completions_gets_the_whole_conversation() {
    let server = answering("/v1/chat/completions", completion(json!({ "content": "hello" }))).await;
    let items = [Item::user("hi"), Item::Assistant { text: "yes?".to_owned() }, Item::user("there")];
    let known = Some(Known { response_id: "resp_1", items: 2 });
    let model = server_at(&server, Shape::ChatCompletions);
    let request = ModelRequest {
        model: "local",
        instructions: "Be kind.",
        items: &items,
        known,
        tools: &[],
        max_output_tokens: None,
    };
    assert_eq!(model.answer(request).await.expect("an answer").text(), "hello");
    let asked: Value = server.received_requests().await.expect("requests")[0].body_json().expect("JSON");
    assert_eq!(asked["messages"].as_array().map(Vec::len), Some(4));
}

#[tokio::test]
async fn the_key_is_in_no_error() {
    let told =
        json!({ "error": { "code": "x".repeat(5_000), "message": "Incorrect API key provided: sk-secret" } });
    for status in [400, 401, 404, 500] {
        let server = answering("/v1/responses", ResponseTemplate::new(status).set_body_json(&told)).await;
        let error =
            ask(&server_at(&server, Shape::Responses), &[Item::user("hi")]).await.expect_err("refused");
        assert!(!error.to_string().contains("sk-secret") && error.to_string().len() < 600, "{error}");
    }
}

#[tokio::test]
async fn refusals_say_how_long_to_wait() {
    let busy = ResponseTemplate::new(429)
        .insert_header("retry-after", "7")
        .set_body_json(json!({ "error": { "code": "rate_limit_exceeded" } }));
    for (shape, path) in
        [(Shape::Responses, "/v1/responses"), (Shape::ChatCompletions, "/v1/chat/completions")]
    {
        let server = answering(path, busy.clone()).await;
        let error = ask(&server_at(&server, shape), &[Item::user("hi")]).await.expect_err("refused");
        let reason = "429 rate_limit_exceeded".to_owned();
        assert_eq!(error, ModelError::Unavailable { reason, retry_after: Some(Duration::from_secs(7)) });
    }
}

#[tokio::test]
async fn a_server_that_fails_is_not_available() {
    let stream = |text: &str| ResponseTemplate::new(200).set_body_raw(text.to_owned(), "text/event-stream");
    for (answer, expected) in [
        (ResponseTemplate::new(502).set_body_string("<html>"), "502"),
        (stream("data: {\"type\":\"response.created\"}\n\n"), "broke off"),
        (stream("data: nothing\n\ndata: {}\n\n"), "broke off"),
        (stream("data: {\"type\":\"error\",\"code\":\"server_error\"}\n\n"), "server_error"),
        (ResponseTemplate::new(200).set_body_string("<html>"), "no JSON"),
        (ResponseTemplate::new(200).set_body_json(json!([])), "without output"),
    ] {
        let server = answering("/v1/responses", answer).await;
        let error =
            ask(&server_at(&server, Shape::Responses), &[Item::user("hi")]).await.expect_err("failed");
        assert!(error.is_passing() && error.to_string().contains(expected), "{error}");
    }
    let nobody =
        std::net::TcpListener::bind("127.0.0.1:0").and_then(|port| port.local_addr()).expect("a port");
    let model = account(&format!("http://{nobody}"), Duration::from_mins(1), Shape::Responses);
    let error = ask(&model, &[Item::user("hi")]).await.expect_err("failed");
    assert!(error.is_passing(), "{error}");
    assert!(!format!("{error} {model:?}").contains("sk-secret"));
}

#[tokio::test]
async fn a_server_that_is_late_is_not_available() {
    let late = ResponseTemplate::new(200).set_delay(Duration::from_mins(5));
    let server = answering("/v1/responses", late).await;
    let model = account(&server.uri(), Duration::from_millis(100), Shape::Responses);
    let error = ask(&model, &[Item::user("hi")]).await.expect_err("late");
    assert_eq!(error, ModelError::unavailable("no answer in time"));
}

#[tokio::test]
async fn an_answer_without_end_is_given_up() {
    let endless = "x".repeat(9 << 20);
    let stream = format!("data: {{\"type\":\"response.output_text.delta\",\"delta\":\"{endless}\"}}\n\n");
    for (body, kind) in [(endless.clone(), "application/json"), (stream, "text/event-stream")] {
        let server = answering("/v1/responses", ResponseTemplate::new(200).set_body_raw(body, kind)).await;
        let model = server_at(&server, Shape::Responses);
        let error = ask(&model, &[Item::user("hi")]).await.expect_err("given up");
        assert_eq!(error, ModelError::Unreadable { reason: "an answer without end".to_owned() });
    }
}
