//! What the app of a contact does with an interactive form: it asks the endpoint of the form, encrypted and signed.

use flowsdk_channels::phone::webhook::{SIGNATURE_HEADER, sign};
use flowsdk_core::fault::BoxError;
use flowsdk_crypto::SealedQuestion;
use reqwest::Url;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::provider::Provider;

/// A question for the endpoint of a form.
#[derive(Debug, Clone, Deserialize)]
pub struct Asked {
    /// The endpoint: the server with `/phone/forms/<form id>`.
    #[serde(deserialize_with = "url")]
    pub endpoint: Url,
    /// The question, such as `{"action":"INIT","flow_token":"..."}`.
    pub question: Value,
}

fn url<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Url, D::Error> {
    String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
}

/// What an endpoint answered.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answered {
    /// Its HTTP status.
    pub status: u16,
    /// The answer, decrypted; `None` of one that is not encrypted.
    pub answer: Option<Value>,
    /// What came in place of an answer, for whoever sets the form up.
    pub refusal: Option<Value>,
}

impl Provider {
    /// Asks the endpoint of a form of a number.
    ///
    /// # Errors
    /// The number has no public key here, or the endpoint cannot be reached.
    pub async fn ask_form(&self, phone_number_id: &str, asked: &Asked) -> Result<Answered, BoxError> {
        let key = self
            .form_key(phone_number_id)
            .ok_or("the simulator has no public key of this number: register it first")?;
        let (sealed, exchange) = SealedQuestion::seal(&key, asked.question.to_string().as_bytes())?;
        let body = serde_json::to_string(&sealed)?;
        let signature = sign(&self.state().config.app_secret, body.as_bytes());
        let request = self.shared().client.post(asked.endpoint.clone()).header(SIGNATURE_HEADER, signature);
        let answer = request.header("content-type", "application/json").body(body).send().await;
        let answer = answer.map_err(|error| {
            let why = if error.is_timeout() { "did not answer in time" } else { "cannot be reached" };
            format!("the endpoint {} {why}", asked.endpoint)
        })?;
        let status = answer.status().as_u16();
        let text = answer.text().await?;
        let clear = exchange.open_answer(&text).ok();
        let refusal = clear.is_none().then(|| serde_json::from_str(&text).unwrap_or_else(|_| text.into()));
        Ok(Answered { status, answer: clear.and_then(|clear| serde_json::from_slice(&clear).ok()), refusal })
    }
}
