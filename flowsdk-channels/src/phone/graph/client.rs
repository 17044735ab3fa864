//! Calls to the provider's API, and how its answers are read.

use std::fmt;
use std::time::Duration;

use flowsdk_core::channel::{Refusal, SendError};
use flowsdk_core::message::StatusError;
use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};
use reqwest::{Client, RequestBuilder, Response, StatusCode, Url};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;

use super::class::class_of;

/// Most bytes of an answer that are read. A page of templates is the longest.
const MAX_ANSWER: usize = 8 << 20;

/// The subcode of an object that is not there, such as a number that was deleted.
const OBJECT_MISSING: i64 = 33;

/// The provider's API at an address that names the version, such as `https://graph.facebook.com/v24.0`.
#[derive(Clone)]
pub struct GraphApi {
    base: Url,
    pub(super) client: Client,
}

impl fmt::Debug for GraphApi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GraphApi").field("base", &self.base.as_str()).finish_non_exhaustive()
    }
}

impl GraphApi {
    /// Creates an adapter. The client has a timeout, and follows no redirect: the token would follow it.
    pub fn new(base: Url, client: Client) -> Self {
        Self { base, client }
    }

    /// Returns the address below which calls go.
    pub(super) fn base(&self) -> &Url {
        &self.base
    }

    /// Returns the address of something below the base.
    pub(super) fn at(&self, parts: &[&str]) -> Result<Url, SendError> {
        let mut url = self.base.clone();
        let cannot = || SendError::Unsendable("the address of the provider can have no path".to_owned());
        url.path_segments_mut().map_err(|()| cannot())?.pop_if_empty().extend(parts);
        Ok(url)
    }

    pub(super) async fn call(
        &self,
        request: RequestBuilder,
        token: &SecretString,
    ) -> Result<Value, SendError> {
        let answer = request.bearer_auth(token.expose_secret()).send().await;
        let answer = answer.map_err(|error| {
            // Without a connection nothing was sent. Addresses are in the error, tokens are not.
            if error.is_connect() || error.is_builder() {
                SendError::Unreached(error.into())
            } else {
                SendError::Unanswered(error.into())
            }
        })?;
        let status = answer.status();
        let retry_after = retry_after(answer.headers());
        read_answer(status, retry_after, &read(answer).await?)
    }
}

/// Reads an answer: what it refuses is an error, whatever its HTTP status.
pub(super) fn read_answer(
    status: StatusCode,
    retry_after: Option<Duration>,
    body: &[u8],
) -> Result<Value, SendError> {
    let read = serde_json::from_slice::<Value>(body);
    if let Some(refusal) = read.as_ref().ok().and_then(|value| refusal(&value["error"], retry_after)) {
        return Err(SendError::Refused(refusal));
    }
    match read {
        Ok(value) if status.is_success() => Ok(value),
        _ => Err(SendError::Unanswered(format!("HTTP {status} without an answer of the provider").into())),
    }
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

/// Returns how long the provider wants to be left alone: a number of seconds, or a time by the provider's own clock, which
/// its answer tells, too (RFC 9110, "Retry-After").
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name| headers.get(name)?.to_str().ok();
    let asked = text(RETRY_AFTER)?;
    if let Ok(seconds) = asked.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let time = |text| httpdate::parse_http_date(text).ok();
    Some(time(asked)?.duration_since(time(text(DATE)?)?).unwrap_or_default())
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

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderName;

    use super::*;

    #[test]
    fn a_time_is_told_in_seconds_or_as_a_date() {
        const NOON: &str = "Fri, 27 Nov 2026 12:00:00 GMT";
        const LATER: &str = "Fri, 27 Nov 2026 12:01:30 GMT";
        let seconds = |asked: &str, date: Option<&str>| {
            let told = [Some((RETRY_AFTER, asked)), date.map(|date| (DATE, date))];
            let header = |(name, value): (HeaderName, &str)| (name, value.parse().expect("a value"));
            let headers = told.into_iter().flatten().map(header).collect();
            retry_after(&headers).map(|wait| wait.as_secs())
        };
        for (asked, date, expected) in [
            ("7", None, Some(7)),
            (LATER, Some(NOON), Some(90)),
            (NOON, Some(LATER), Some(0)),
            (LATER, None, None),
            ("soon", Some(NOON), None),
            ("-1", Some(NOON), None),
        ] {
            assert_eq!(seconds(asked, date), expected, "{asked} at {date:?}");
        }
    }
}
