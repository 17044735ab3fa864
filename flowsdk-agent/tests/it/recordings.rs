//! What others recorded is read.

use std::fs;
use std::path::Path;

use flowsdk_agent::model::{Embedded, Embedder as _, Item, ModelError, Speech, Transcriber as _};
use flowsdk_agent::openai::Shape;
use serde_json::Value;
use wiremock::{Mock, MockServer, ResponseTemplate, matchers};

use crate::servers::{ask, server_at};

/// The files, by name.
fn recordings() -> Vec<(String, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/openai");
    let mut files: Vec<_> =
        fs::read_dir(folder).expect("the folder").map(|file| file.expect("a file").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    let read = |file: &std::path::PathBuf| {
        let text = fs::read_to_string(file).expect("a text");
        let name = file.file_name().expect("a name").to_string_lossy().into_owned();
        (name, serde_json::from_str(&text).expect("JSON"))
    };
    files.iter().map(read).collect()
}

/// The exchanges of a path, with the names of their files.
fn exchanges(path: &str) -> Vec<(String, Value)> {
    let of_file = |(name, file): (String, Value)| {
        let all = file["interactions"].as_array().cloned().unwrap_or_default();
        all.into_iter().map(move |exchange| (name.clone(), exchange))
    };
    let all = recordings().into_iter().flat_map(of_file);
    all.filter(|(_, exchange)| exchange["request"]["path"] == path).collect()
}

/// A server that answers as it was recorded.
async fn replay(response: &Value) -> MockServer {
    let status = response["status"].as_u64().and_then(|status| u16::try_from(status).ok()).expect("a status");
    let kind = response["headers"]["content-type"].as_str().unwrap_or("application/json");
    let body = match &response["body"] {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let server = MockServer::start().await;
    let answer = ResponseTemplate::new(status).set_body_raw(body, kind);
    Mock::given(matchers::any()).respond_with(answer).mount(&server).await;
    server
}

/// The response in a body that is one, or that ends a stream.
fn response_of(body: &Value) -> Value {
    let Some(stream) = body.as_str() else { return body.clone() };
    let last = stream.lines().rev().find_map(|line| line.strip_prefix("data: ")).expect("an event");
    serde_json::from_str::<Value>(last).expect("JSON")["response"].clone()
}

fn outputs<'a>(response: &'a Value, kind: &str) -> Vec<&'a Value> {
    response["output"].as_array().into_iter().flatten().filter(|item| item["type"] == kind).collect()
}

#[tokio::test]
async fn every_recorded_response_is_read() {
    let (mut read, mut refused) = (0, 0);
    for (name, exchange) in exchanges("/v1/responses") {
        let recorded = &exchange["response"];
        let server = replay(recorded).await;
        let answer = ask(&server_at(&server, Shape::Responses), &[Item::user("hi")]).await;
        if recorded["status"] != 200 {
            let error = answer.expect_err(&name);
            let is_expected = match recorded["body"]["error"]["code"].as_str() {
                Some("previous_response_not_found") => error == ModelError::PreviousLost,
                Some("invalid_api_key") => matches!(error, ModelError::Account { .. }),
                _ => matches!(error, ModelError::Refused { .. }),
            };
            assert!(is_expected, "{name}: {error:?}");
            refused += 1;
            continue;
        }
        let answer = answer.unwrap_or_else(|error| panic!("{name}: {error}"));
        let response = response_of(&recorded["body"]);
        assert_eq!(answer.response_id.as_deref(), response["id"].as_str(), "{name}");
        let calls: Vec<_> =
            answer.tool_calls().map(|call| (call.name.as_str(), call.arguments.as_str())).collect();
        let made = outputs(&response, "function_call");
        let made: Vec<_> = made.iter().map(|call| (text(&call["name"]), text(&call["arguments"]))).collect();
        assert_eq!(calls, made, "{name}");
        let other = response["output"].as_array().map_or(0, Vec::len)
            - made.len()
            - outputs(&response, "message").len();
        assert_eq!(answer.other.len(), other, "{name}");
        assert_eq!(answer.cut.is_some(), response["status"] == "incomplete", "{name}");
        assert_eq!(Some(answer.usage.output_tokens), response["usage"]["output_tokens"].as_u64(), "{name}");
        read += 1;
    }
    assert!(read >= 60 && refused >= 6, "{read} read, {refused} refused");
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

#[tokio::test]
async fn every_published_response_is_read() {
    let mut read = 0;
    for (name, file) in recordings() {
        let is_response = file["object"] == "response" && file["output"].is_array();
        if let Some(stream) = file["sse_text"].as_str() {
            let recorded = serde_json::json!({ "status": 200, "body": stream,
                "headers": { "content-type": "text/event-stream" } });
            let server = replay(&recorded).await;
            let answer = ask(&server_at(&server, Shape::Responses), &[Item::user("hi")]).await;
            assert!(!answer.expect(&name).text().is_empty(), "{name}");
            read += 1;
        } else if is_response {
            let server = replay(&serde_json::json!({ "status": 200, "body": file })).await;
            let answer = ask(&server_at(&server, Shape::Responses), &[Item::user("hi")]).await;
            let answer = answer.unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(answer.text().len() + answer.tool_calls().count() + answer.other.len() > 0, "{name}");
            read += 1;
        }
    }
    assert!(read >= 8, "{read}");
}

#[tokio::test]
async fn recorded_vectors_are_read() {
    let recorded = exchanges("/v1/embeddings");
    assert!(recorded.len() >= 6, "{}", recorded.len());
    for (name, exchange) in recorded {
        let texts: Vec<String> = match &exchange["request"]["body"]["input"] {
            Value::Array(texts) => {
                texts.iter().map(|text| text.as_str().unwrap_or_default().to_owned()).collect()
            }
            one => vec![one.as_str().unwrap_or_default().to_owned()],
        };
        let server = replay(&exchange["response"]).await;
        let dimensions = exchange["request"]["body"]["dimensions"].as_u64().unwrap_or(1_536);
        let dimensions = u32::try_from(dimensions).expect("a number");
        let model = server_at(&server, Shape::Responses).embedder("small".to_owned(), dimensions);
        let embedded = model.embed(&texts).await;
        // One recording asked for another encoding.
        let is_read = exchange["response"]["body"]["data"][0]["embedding"].is_array();
        assert_eq!(embedded.is_ok(), is_read, "{name}: {embedded:?}");
        let Ok(Embedded { vectors, used }) = embedded else { continue };
        let used = used.expect("a model is asked");
        let told = exchange["response"]["body"]["usage"]["prompt_tokens"].as_u64().unwrap_or_default();
        assert_eq!((used.model.as_str(), used.tokens.input_tokens), ("small", told), "{name}");
        for vector in vectors {
            let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
            assert!((length - 1.0).abs() < 0.01, "{name}: {length}");
        }
    }
}

#[tokio::test]
async fn recorded_transcriptions_are_read() {
    let (recorded, mut is_counted) = (exchanges("/v1/audio/transcriptions"), false);
    assert!(recorded.len() >= 8, "{}", recorded.len());
    for (name, exchange) in recorded {
        let server = replay(&exchange["response"]).await;
        let speech = Speech { bytes: b"OggS".to_vec(), mime_type: "audio/ogg; codecs=opus".to_owned() };
        let said =
            server_at(&server, Shape::Responses).transcriber("whisper".to_owned()).transcribe(speech).await;
        assert_eq!(said.is_ok(), exchange["response"]["status"] == 200, "{name}: {said:?}");
        let Ok(said) = said else { continue };
        let used = said.used.expect("a model is asked");
        let told = &exchange["response"]["body"]["usage"];
        let tokens = |field: &str| told[field].as_u64().unwrap_or_default();
        assert_eq!(
            (used.tokens.input_tokens, used.tokens.output_tokens),
            (tokens("input_tokens"), tokens("output_tokens")),
            "{name}"
        );
        is_counted |= used.tokens.input_tokens > 0;
    }
    assert!(is_counted, "none has tokens");
}
