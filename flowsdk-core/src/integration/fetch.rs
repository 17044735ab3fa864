//! Asking the server of an integration for something (spec A 4.7).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;

use super::redact::{redact, redact_json};
use super::service::within;
use super::{HasIntegrations, Integration, IntegrationAuth, IntegrationError as Error, Integrations};
use crate::flow::definition::HttpMethod;
use crate::flow::{HttpAnswer, HttpRequest};
use crate::id::IntegrationId;
use crate::router::Reach;
use crate::store::Store;

/// A request to the server of an integration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fetch {
    /// Below the server's address; empty is that address itself.
    pub path: String,
    /// Names and values of the query.
    pub query: Vec<(String, String)>,
}

/// The answer of the server. Credentials that it echoes are taken out.
#[derive(Debug, Clone, PartialEq)]
pub struct Fetched {
    /// Its status, whichever.
    pub status: u16,
    /// The content type, if the server named one.
    pub content_type: Option<String>,
    /// JSON, where it is JSON, otherwise a text. Bytes that are no UTF-8 become U+FFFD.
    pub content: Value,
}

impl<S: Store> Integrations<S>
where
    S::Tx: HasIntegrations,
{
    /// Asks the server of an integration, with its credentials. Only GET: who may read contents may not write
    /// with the credentials of others.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Path`], [`Error::Refused`], [`Error::Unreachable`], [`Error::TimedOut`],
    /// [`Error::TooLarge`], [`Error::Sealed`], [`Error::Storage`].
    pub async fn fetch(&self, reach: Reach<'_>, id: &IntegrationId, what: &Fetch) -> Result<Fetched, Error> {
        // No transaction is open while the server is asked.
        let found = self.store.read().await?.integrations().find(id).await?;
        let integration = within(found, reach)?;
        let url = integration.base_url.join(&what.path, &what.query).ok_or(Error::Path)?;
        let credentials = integration.credentials.as_ref().map(|sealed| self.master_key.decrypt(sealed));
        let credentials = credentials.transpose()?;
        let (header, encoded) = header(&integration, credentials.as_ref());
        let request = HttpRequest {
            method: HttpMethod::Get,
            url: url.into(),
            headers: header.into_iter().collect(),
            body: None,
            is_json: false,
            follows_redirects: true,
            timeout: integration.settings.timeout(),
            paths: Vec::new(),
        };
        let answer = self.http.call(&request).await.map_err(|failure| {
            tracing::warn!(integration = %id, router = %integration.router_id, code = failure.code,
                reason = failure.message, "the server of an integration gave no answer");
            Error::from(failure)
        })?;
        let secrets =
            [credentials.as_ref(), encoded.as_ref()].map(|secret| secret.map_or("", |s| s.expose_secret()));
        Ok(shown(&answer, &secrets))
    }
}

/// Returns the header that shows the credentials, and their form in it where it differs.
fn header(
    integration: &Integration,
    credentials: Option<&SecretString>,
) -> (Option<(String, SecretString)>, Option<SecretString>) {
    const AUTHORIZATION: &str = "authorization";
    let Some(credentials) = credentials else {
        return (None, None);
    };
    let clear = credentials.expose_secret();
    match integration.settings.auth {
        IntegrationAuth::Bearer => (Some((AUTHORIZATION.to_owned(), format!("Bearer {clear}").into())), None),
        IntegrationAuth::Basic => {
            let encoded = STANDARD.encode(clear);
            let value = format!("Basic {encoded}").into();
            (Some((AUTHORIZATION.to_owned(), value)), Some(encoded.into()))
        }
        IntegrationAuth::Header => {
            let name = integration.settings.header_name.clone();
            (name.map(|name| (name, credentials.clone())), None)
        }
    }
}

fn shown(answer: &HttpAnswer, secrets: &[&str]) -> Fetched {
    let is_json = answer.content_type.as_deref().is_some_and(|kind| {
        let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        kind == "application/json" || kind.ends_with("+json")
    });
    let parsed = if is_json { serde_json::from_slice(&answer.body).ok() } else { None };
    let content = match parsed {
        Some(json) => redact_json(json, secrets),
        None => Value::String(redact(&String::from_utf8_lossy(&answer.body), secrets)),
    };
    let content_type = answer.content_type.as_deref().map(|kind| redact(kind, secrets));
    Fetched { status: answer.status, content_type, content }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn json_is_json_and_everything_else_a_text() {
        for (kind, body, content) in [
            (Some("application/json; charset=utf-8"), &br#"{"a":[1,"x"]}"#[..], json!({ "a": [1, "x"] })),
            (Some("application/problem+json"), b"[]", json!([])),
            (Some("application/json"), b"{", json!("{")),
            (Some("text/plain"), br#"{"a":1}"#, json!("{\"a\":1}")),
            (None, b"", json!("")),
            (Some("image/png"), b"\x89PNG", json!("\u{fffd}PNG")),
        ] {
            let answer =
                HttpAnswer { status: 418, content_type: kind.map(str::to_owned), body: body.to_vec() };
            let shown = shown(&answer, &[]);
            assert_eq!((shown.status, shown.content), (418, content), "{kind:?}");
        }
    }

    #[test]
    fn what_echoes_the_credentials_is_taken_out() {
        let answer = HttpAnswer {
            status: 200,
            content_type: Some("text/s3cret-token".to_owned()),
            body: b"Authorization: Bearer s3cret-token".to_vec(),
        };
        let shown = shown(&answer, &["s3cret-token", ""]);
        assert_eq!(shown.content, json!("Authorization: Bearer ***"));
        assert_eq!(shown.content_type.as_deref(), Some("text/***"));
    }
}
