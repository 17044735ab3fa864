//! The Messages API of Twilio, and of those who copy it.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use flowsdk_auth::sms::{Sms, SmsError, SmsSender};
use flowsdk_core::fault::BoxError;
use reqwest::{Client, StatusCode, Url};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;

use super::client;
use crate::http_client;

/// Most characters of a message; Twilio refuses longer ones with this code, and so do we before we ask.
const MAX_CHARACTERS: usize = 1_600;
const TOO_LONG: &str = "21617";
/// Twilio's code for too many requests, whatever the status says.
const TOO_MANY_REQUESTS: u64 = 20_429;

/// The sender of messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TwilioOrigin {
    /// `TWILIO_FROM`: a number of the account, E.164 with `+`, or an alphanumeric sender.
    From(String),
    /// `TWILIO_MESSAGING_SERVICE_SID`: Twilio chooses the number.
    MessagingService(String),
}

/// An account, and where its API is.
#[derive(Debug, Clone)]
pub struct TwilioAccount {
    /// The account, of `TWILIO_ACCOUNT_SID`.
    pub account_sid: String,
    /// The secret of the account, of `TWILIO_AUTH_TOKEN`.
    pub auth_token: SecretString,
    /// The sender of every message.
    pub origin: TwilioOrigin,
    /// `TWILIO_BASE_URL`, without the path of the API.
    pub base_url: Url,
}

/// Sends by posting to `/2010-04-01/Accounts/{AccountSid}/Messages.json`.
pub struct TwilioSms {
    account: TwilioAccount,
    endpoint: Url,
    client: Client,
}

impl fmt::Debug for TwilioSms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TwilioSms").field("account", &self.account).finish_non_exhaustive()
    }
}

/// The body of a refusal: `{code, message, more_info, status}`. The message may quote the number.
#[derive(Deserialize)]
struct Refusal {
    code: Option<u64>,
}

impl TwilioSms {
    /// A sender that waits for an answer no longer than `timeout`.
    ///
    /// # Errors
    /// The base URL cannot have a path, or the HTTP client cannot be built.
    pub fn new(account: TwilioAccount, timeout: Duration) -> Result<Self, BoxError> {
        let mut endpoint = account.base_url.clone();
        endpoint
            .path_segments_mut()
            .map_err(|()| "TWILIO_BASE_URL can have no path")?
            .pop_if_empty()
            .extend(["2010-04-01", "Accounts", &account.account_sid, "Messages.json"]);
        Ok(Self { account, endpoint, client: http_client::client(timeout)? })
    }
}

#[async_trait]
impl SmsSender for TwilioSms {
    async fn send(&self, sms: &Sms) -> Result<(), SmsError> {
        let text = sms.text.expose_secret();
        if text.chars().count() > MAX_CHARACTERS {
            return Err(SmsError::Refused { code: TOO_LONG.to_owned() });
        }
        let to = format!("+{}", sms.to.trim_start_matches('+'));
        let origin = match &self.account.origin {
            TwilioOrigin::From(number) => ("From", number.as_str()),
            TwilioOrigin::MessagingService(sid) => ("MessagingServiceSid", sid.as_str()),
        };
        let answer = self
            .client
            .post(self.endpoint.clone())
            .basic_auth(&self.account.account_sid, Some(self.account.auth_token.expose_secret()))
            .form(&[("To", to.as_str()), origin, ("Body", text)])
            .send()
            .await
            .map_err(client::unreachable)?;
        let status = answer.status();
        if status.is_success() {
            return Ok(());
        }
        if !status.is_client_error() || status == StatusCode::TOO_MANY_REQUESTS {
            return Err(client::later(status));
        }
        // A refusal counts by its status; a body that is cut off or no JSON only leaves out the code.
        let code = answer.json::<Refusal>().await.ok().and_then(|refusal| refusal.code);
        match code {
            Some(TOO_MANY_REQUESTS) => Err(client::later(status)),
            code => Err(SmsError::Refused {
                code: code.map_or_else(|| client::http_code(status), |code| code.to_string()),
            }),
        }
    }
}
