//! `POST /{number}/messages`: messages, and read receipts.

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use flowsdk_core::contact::{is_user_id, phone_digits};
use http::HeaderMap;
use serde_json::{Value, json};

use super::faulty::{AS_TOLD, around};
use super::{is_let_in, no_token, refusal};
use crate::simulator::fault::{CallKind, Fault};
use crate::simulator::provider::{Provider, SentMessage};

/// The kinds of messages, each with a node of its name.
const KINDS: [&str; 11] = [
    "text",
    "image",
    "audio",
    "video",
    "document",
    "sticker",
    "location",
    "contacts",
    "reaction",
    "interactive",
    "template",
];

pub(super) async fn send(
    State(provider): State<Provider>,
    Path((_version, number)): Path<(String, String)>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let receipt = read_receipt(&body);
    let fault = if receipt.is_some() { None } else { provider.state().begin_call(CallKind::Send) };
    if !is_let_in(&provider, &headers) {
        return no_token();
    }
    if let Some((id, types)) = receipt {
        // Whether it is there or not, the provider says that it is done.
        provider.state().read_by_business(&number, &id, types);
        return Json(json!({ "success": true })).into_response();
    }
    let fails_later = match fault {
        Some(Fault::FailStatus { code }) => Some(code),
        _ => None,
    };
    around(fault, async || take(&provider, number, &body, fails_later)).await
}

/// Takes a message, or refuses it. What `fails_later` is taken, and a status tells that code.
fn take(provider: &Provider, number: String, body: &[u8], fails_later: Option<i64>) -> Response {
    let (to, body) = match read(body) {
        Ok(read) => read,
        Err((code, details)) => return refusal(code, &details, None),
    };
    if let Some((code, details)) = provider.refused_template(&body) {
        return refusal(code, details, None);
    }
    if let Err(excess) = provider.pace(&number, &to) {
        let (code, details) = excess.error();
        return refusal(code, details, None);
    }
    let id = provider.state().next_id();
    let message = SentMessage { id, phone_number_id: number, to, body };
    let failure = fails_later.map(|code| (code, AS_TOLD)).or_else(|| provider.closed_window(&message));
    let mut content = content_of(&message.body);
    if let Some(filled) = provider.filled(&message.body) {
        content["template"]["filled"] = filled;
    }
    provider.keep(&message, failure.is_none().then_some(content));
    match failure {
        Some((code, details)) => provider.tell_failure(&message, code, details),
        None => provider.tell_of(&message),
    }
    let mut contact = json!({ "input": message.body["to"].as_str().unwrap_or(&message.to) });
    let field = if is_user_id(&message.to) { "user_id" } else { "wa_id" };
    contact[field] = message.to.as_str().into();
    Json(json!({
        "messaging_product": "whatsapp",
        "contacts": [contact],
        "messages": [{ "id": message.id }],
    }))
    .into_response()
}

/// Returns the message that a call says was read, and whether it shows that somebody types.
fn read_receipt(body: &[u8]) -> Option<(String, bool)> {
    let body: Value = serde_json::from_slice(body).ok()?;
    let is_read = body["status"] == "read" && body["messaging_product"] == "whatsapp";
    let id = body["message_id"].as_str().filter(|_| is_read)?;
    Some((id.to_owned(), body["typing_indicator"].is_object()))
}

/// Returns the content of a call that sends, with its `type`.
fn content_of(body: &Value) -> Value {
    let kind = body["type"].as_str().unwrap_or("text");
    json!({ "type": kind, kind: body[kind] })
}

/// Returns the phone that a message goes to, and its body; or the code of the error, and its words.
fn read(body: &[u8]) -> Result<(String, Value), (i64, String)> {
    let invalid = |words: &str| (100, words.to_owned());
    let body: Value = serde_json::from_slice(body).map_err(|error| invalid(&error.to_string()))?;
    if body["messaging_product"] != "whatsapp" {
        return Err(invalid("The parameter messaging_product is required."));
    }
    let to = match (body["to"].as_str(), body["recipient"].as_str()) {
        (Some(number), _) => phone_digits(number).ok_or(invalid("Invalid parameter: to"))?,
        (None, Some(user)) if is_user_id(user) => user.to_owned(),
        _ => return Err(invalid("The parameter to is required.")),
    };
    let kind = body["type"].as_str().unwrap_or("text");
    if !KINDS.contains(&kind) {
        let kinds = KINDS.join(", ").to_uppercase();
        return Err(invalid(&format!("Param type must be one of {{{kinds}}}")));
    }
    if !(body[kind].is_object() || kind == "contacts" && body[kind].is_array()) {
        return Err((131_008, format!("The parameter {kind} is required.")));
    }
    if kind == "text"
        && !body["text"]["body"].as_str().is_some_and(|text| (1..=4_096).contains(&text.chars().count()))
    {
        return Err(invalid("Param text['body'] must be at most 4096 characters long."));
    }
    Ok((to, body))
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    /// Tests wait for a message in one and look at it in the other.
    #[test]
    fn what_was_sent_is_on_the_screen_of_its_phone() {
        const PHONE: &str = "5511987654321";
        let provider = Provider::of_tests(None);
        let is_shown = |message: &SentMessage| {
            provider.screen("111", PHONE).messages.iter().any(|bubble| bubble.id == message.id)
        };
        let body = json!({ "messaging_product": "whatsapp", "to": PHONE, "type": "text", "text": { "body": "Olá" } });
        thread::scope(|scope| {
            let sending = scope.spawn(|| {
                for _ in 0..100 {
                    take(&provider, "111".to_owned(), body.to_string().as_bytes(), None);
                }
            });
            while !sending.is_finished() {
                if let Some(newest) = provider.sent().last() {
                    assert!(is_shown(newest), "{}", newest.id);
                }
            }
        });
    }
}
