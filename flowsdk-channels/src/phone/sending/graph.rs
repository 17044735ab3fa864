//! The adapter for the WhatsApp Cloud API.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use flowsdk_core::channel::{Accepted, ChannelSender, Refusal, SendError, SendingAccount};
use flowsdk_core::event::OutgoingEvent;
use flowsdk_core::message::StatusError;
use reqwest::header::RETRY_AFTER;
use reqwest::{Client, RequestBuilder, Response, StatusCode, Url};
use secrecy::ExposeSecret as _;
use serde::Deserialize;
use serde_json::{Value, json};

use super::body::body_of;
use super::class::class_of;

/// Most bytes of an answer that are read; they are some hundred.
const MAX_ANSWER: usize = 64 << 10;

/// Calls the provider at an address that names the version, such as `https://graph.facebook.com/v24.0`.
#[derive(Clone)]
pub struct GraphSender {
    base: Url,
    client: Client,
}

impl fmt::Debug for GraphSender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GraphSender").field("base", &self.base.as_str()).finish_non_exhaustive()
    }
}

/// The answer to a message that was taken.
#[derive(Deserialize)]
struct Taken {
    messages: Vec<TakenMessage>,
    #[serde(default)]
    contacts: Vec<TakenContact>,
}

#[derive(Deserialize)]
struct TakenMessage {
    id: String,
}

#[derive(Deserialize)]
struct TakenContact {
    #[serde(default)]
    wa_id: Option<String>,
}

/// The subcode of an object that is not there, such as a number that was deleted.
const OBJECT_MISSING: i64 = 33;

impl GraphSender {
    /// Creates an adapter. The client has a timeout, and follows no redirect: the token would follow it.
    pub fn new(base: Url, client: Client) -> Self {
        Self { base, client }
    }

    /// Returns the address of something below the base.
    fn at(&self, parts: &[&str]) -> Result<Url, SendError> {
        let mut url = self.base.clone();
        let cannot = || SendError::Unsendable("the address of the provider can have no path".to_owned());
        url.path_segments_mut().map_err(|()| cannot())?.pop_if_empty().extend(parts);
        Ok(url)
    }

    async fn call(&self, request: RequestBuilder, account: &SendingAccount) -> Result<Value, SendError> {
        let answer = request.bearer_auth(account.access_token.expose_secret()).send().await;
        let answer = answer.map_err(|error| {
            // Without a connection nothing was sent. Addresses are in the error, tokens are not.
            if error.is_connect() || error.is_builder() {
                SendError::Unreached(error.into())
            } else {
                SendError::Unanswered(error.into())
            }
        })?;
        let status = answer.status();
        let retry_after = retry_after(&answer);
        read_answer(status, retry_after, &read(answer).await?)
    }
}

/// Reads an answer: what it refuses is an error, whatever its HTTP status.
fn read_answer(status: StatusCode, retry_after: Option<Duration>, body: &[u8]) -> Result<Value, SendError> {
    let read = serde_json::from_slice::<Value>(body);
    if let Some(refusal) = read.as_ref().ok().and_then(|value| refusal(&value["error"], retry_after)) {
        return Err(SendError::Refused(refusal));
    }
    match read {
        Ok(value) if status.is_success() => Ok(value),
        _ => Err(SendError::Unanswered(format!("HTTP {status} without an answer of the provider").into())),
    }
}

/// Reads the answer to a message that was taken.
fn accepted(answer: Value) -> Result<Accepted, SendError> {
    let taken: Taken = serde_json::from_value(answer).map_err(|error| SendError::Unanswered(error.into()))?;
    let message = taken.messages.into_iter().next();
    let none = || SendError::Unanswered("an answer without a message".into());
    let provider_id = message.map(|message| message.id).ok_or_else(none)?;
    let recipient = taken.contacts.into_iter().next().and_then(|contact| contact.wa_id);
    Ok(Accepted { provider_id, recipient })
}

/// Reads what was refused: its code is a number, or the text of one; everything else may have any shape.
fn refusal(error: &Value, retry_after: Option<Duration>) -> Option<Refusal> {
    let integer = |value: &Value| value.as_i64().or_else(|| value.as_str()?.parse().ok());
    let code = integer(&error["code"])?;
    let is_gone = code == 100 && integer(&error["error_subcode"]) == Some(OBJECT_MISSING);
    let words = [&error["error_data"]["details"], &error["message"]];
    let title = words.into_iter().find_map(|words| words.as_str().map(str::to_owned));
    let is_transient = error["is_transient"].as_bool().unwrap_or(false);
    Some(Refusal {
        error: StatusError { code, title },
        class: class_of(if is_gone { OBJECT_MISSING } else { code }, is_transient),
        retry_after,
    })
}

fn retry_after(answer: &Response) -> Option<Duration> {
    let seconds = answer.headers().get(RETRY_AFTER)?.to_str().ok()?.parse().ok()?;
    Some(Duration::from_secs(seconds))
}

async fn read(answer: Response) -> Result<Vec<u8>, SendError> {
    let (mut body, mut answer) = (Vec::new(), answer);
    while let Some(chunk) = answer.chunk().await.map_err(|error| SendError::Unanswered(error.into()))? {
        if body.len() + chunk.len() > MAX_ANSWER {
            return Err(SendError::Unanswered("an answer without end".into()));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

#[async_trait]
impl ChannelSender for GraphSender {
    async fn send(&self, account: &SendingAccount, message: &OutgoingEvent) -> Result<Accepted, SendError> {
        let body = body_of(message).map_err(SendError::Unsendable)?;
        let url = self.at(&[&account.id, "messages"])?;
        accepted(self.call(self.client.post(url).json(&body), account).await?)
    }

    async fn mark_read(
        &self,
        account: &SendingAccount,
        message_id: &str,
        is_typing: bool,
    ) -> Result<(), SendError> {
        let url = self.at(&[&account.id, "messages"])?;
        let mut body = json!({ "messaging_product": "whatsapp", "status": "read", "message_id": message_id });
        if is_typing {
            body["typing_indicator"] = json!({ "type": "text" });
        }
        self.call(self.client.post(url).json(&body), account).await.map(drop)
    }

    async fn probe(&self, account: &SendingAccount) -> Result<(), SendError> {
        let url = self.at(&[&account.id])?;
        let request = self.client.get(url).query(&[("fields", "id,display_phone_number,quality_rating")]);
        self.call(request, account).await.map(drop)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use flowsdk_core::channel::RefusalClass;

    use super::*;

    const ANSWERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/phone/answers");

    #[test]
    fn answers_of_the_provider_are_read() {
        let (mut taken, mut classes) = (0, Vec::new());
        for entry in fs::read_dir(Path::new(ANSWERS)).expect("a folder") {
            let path = entry.expect("a file").path();
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            let body = fs::read(&path).expect("a file");
            // The class comes from the code, so a wrong HTTP status changes nothing.
            let read =
                [StatusCode::OK, StatusCode::BAD_REQUEST].map(|status| read_answer(status, None, &body));
            match read {
                [Ok(answer), Err(SendError::Unanswered(_))] => {
                    let accepted = accepted(answer).expect("a message");
                    assert!(accepted.provider_id.starts_with("wamid."), "{name}: {accepted:?}");
                    taken += 1;
                }
                [Err(SendError::Refused(one)), Err(SendError::Refused(other))] => {
                    assert_eq!(one, other, "{name}");
                    assert!(one.error.title.as_ref().is_some_and(|title| !title.is_empty()), "{name}");
                    classes.push((one.error.code, one.class));
                }
                other => panic!("{name}: {other:?}"),
            }
        }
        assert_eq!((taken, classes.len()), (9, 22));
        for (code, class) in [
            (190, RefusalClass::Account),
            (4, RefusalClass::Throttled),
            (2, RefusalClass::Retry),
            (132_000, RefusalClass::Permanent),
        ] {
            assert!(classes.contains(&(code, class)), "{code}: {classes:?}");
        }
    }

    #[test]
    fn what_is_no_answer_tells_nothing() {
        let json = StatusCode::OK;
        for (status, body) in [
            (json, ""),
            (json, "<html>"),
            (StatusCode::BAD_GATEWAY, "{}"),
            (StatusCode::BAD_GATEWAY, r#"{"messages":[{"id":"wamid.1"}]}"#),
            (json, r#"{"error":{"message":"no code"}"#),
        ] {
            let read = read_answer(status, None, body.as_bytes());
            assert!(matches!(read, Err(SendError::Unanswered(_))), "{body}: {read:?}");
        }
        for body in [r#"{"messages":[]}"#, "{}", r#"{"error":{"message":"no code"}}"#] {
            let answer = read_answer(json, None, body.as_bytes()).expect("JSON");
            assert!(matches!(accepted(answer), Err(SendError::Unanswered(_))), "{body}");
        }
        // Whatever stands beside the code.
        let odd = br#"{"error":{"code":"190","error_data":"?","is_transient":null,"message":7}}"#;
        let Err(SendError::Refused(refusal)) = read_answer(json, None, odd) else { panic!("it is refused") };
        assert_eq!(
            (refusal.class, refusal.error.code, refusal.error.title),
            (RefusalClass::Account, 190, None)
        );
        let gone = br#"{"error":{"message":"Unsupported get request","code":100,"error_subcode":33}}"#;
        let Err(SendError::Refused(refusal)) = read_answer(json, Some(Duration::from_secs(9)), gone) else {
            panic!("it is refused")
        };
        assert_eq!((refusal.class, refusal.error.code), (RefusalClass::Account, 100));
        assert_eq!(refusal.retry_after, Some(Duration::from_secs(9)));
    }
}
