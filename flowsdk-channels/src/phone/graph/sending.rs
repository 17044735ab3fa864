//! Messages, read receipts and probes.

use async_trait::async_trait;
use flowsdk_core::channel::{Accepted, ChannelSender, SendError, SendingAccount};
use flowsdk_core::event::OutgoingEvent;
use serde::Deserialize;
use serde_json::Value;

use super::GraphApi;
use super::body::{body_of, receipt_of};

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

/// Reads the answer to a message that was taken.
fn accepted(answer: Value) -> Result<Accepted, SendError> {
    let taken: Taken = serde_json::from_value(answer).map_err(|error| SendError::Unanswered(error.into()))?;
    let message = taken.messages.into_iter().next();
    let none = || SendError::Unanswered("an answer without a message".into());
    let provider_id = message.map(|message| message.id).ok_or_else(none)?;
    let recipient = taken.contacts.into_iter().next().and_then(|contact| contact.wa_id);
    Ok(Accepted { provider_id, recipient })
}

#[async_trait]
impl ChannelSender for GraphApi {
    async fn send(&self, account: &SendingAccount, message: &OutgoingEvent) -> Result<Accepted, SendError> {
        let body = body_of(message).map_err(SendError::Unsendable)?;
        let url = self.at(&[&account.id, "messages"])?;
        accepted(self.call(self.client.post(url).json(&body), &account.access_token).await?)
    }

    async fn mark_read(
        &self,
        account: &SendingAccount,
        message_id: &str,
        is_typing: bool,
    ) -> Result<(), SendError> {
        let url = self.at(&[&account.id, "messages"])?;
        let body = receipt_of(message_id, is_typing);
        self.call(self.client.post(url).json(&body), &account.access_token).await.map(drop)
    }

    async fn probe(&self, account: &SendingAccount) -> Result<(), SendError> {
        let url = self.at(&[&account.id])?;
        let request = self.client.get(url).query(&[("fields", "id,display_phone_number,quality_rating")]);
        self.call(request, &account.access_token).await.map(drop)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use std::time::Duration;

    use flowsdk_core::channel::RefusalClass;
    use reqwest::StatusCode;

    use super::super::client::read_answer;
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
