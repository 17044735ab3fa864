//! A message as a signed POST to an address of the operator, who passes it to a provider.

use std::time::Duration;

use async_trait::async_trait;
use flowsdk_auth::sms::{Sms, SmsError, SmsSender};
use flowsdk_core::fault::BoxError;
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::header::CONTENT_TYPE;
use reqwest::{Client, Url};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Serialize;
use sha2::Sha256;

use super::client;
use crate::http_client;

/// The header with the signature, as Meta and GitHub name and write it.
const SIGNATURE: &str = "X-Signature-256";

/// Where messages are posted.
#[derive(Debug, Clone)]
pub struct SmsWebhook {
    /// `SMS_WEBHOOK_URL`. A secret, because such addresses often carry a token.
    pub url: SecretString,
    /// `SMS_WEBHOOK_SECRET`: signs the body.
    pub secret: SecretString,
}

/// Posts `{to, text, purpose, messageId}` with `X-Signature-256: sha256=<hex HMAC-SHA256 of the body>`.
#[derive(Debug)]
pub struct WebhookSms {
    webhook: SmsWebhook,
    client: Client,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    to: &'a str,
    text: &'a str,
    purpose: &'a str,
    message_id: &'a str,
}

impl WebhookSms {
    /// A sender that waits for an answer no longer than `timeout`.
    ///
    /// # Errors
    /// The HTTP client cannot be built.
    pub fn new(webhook: SmsWebhook, timeout: Duration) -> Result<Self, BoxError> {
        Ok(Self { webhook, client: http_client::client(timeout)? })
    }

    fn signature(&self, body: &[u8]) -> Result<String, SmsError> {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.webhook.secret.expose_secret().as_bytes())
            .map_err(|error| SmsError::Unavailable(error.into()))?;
        mac.update(body);
        Ok(format!("sha256={}", hex::encode(mac.finalize().into_bytes())))
    }
}

#[async_trait]
impl SmsSender for WebhookSms {
    async fn send(&self, sms: &Sms) -> Result<(), SmsError> {
        let body = Body {
            to: &sms.to,
            text: sms.text.expose_secret(),
            purpose: sms.purpose.name(),
            message_id: &sms.message_id,
        };
        let body = serde_json::to_vec(&body).map_err(|error| SmsError::Unavailable(error.into()))?;
        let url = Url::parse(self.webhook.url.expose_secret())
            .map_err(|error| SmsError::Unavailable(error.into()))?;
        let answer = self
            .client
            .post(url)
            .header(CONTENT_TYPE, "application/json")
            .header(SIGNATURE, self.signature(&body)?)
            .body(body)
            .send()
            .await
            .map_err(client::unreachable)?;
        match answer.status() {
            status if status.is_success() => Ok(()),
            status if status.is_client_error() => Err(SmsError::Refused { code: client::http_code(status) }),
            status => Err(client::later(status)),
        }
    }
}
