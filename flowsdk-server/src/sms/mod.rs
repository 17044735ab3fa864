//! Text messages: the adapters behind [`SmsSender`], chosen by `SMS_DRIVER`.

mod client;
mod log;
mod twilio;
mod webhook;

use std::sync::Arc;

use flowsdk_auth::sms::SmsSender;
use flowsdk_core::fault::BoxError;

pub use log::{LogSms, NoSms};
pub use twilio::{TwilioAccount, TwilioOrigin, TwilioSms};
pub use webhook::{SmsWebhook, WebhookSms};

use crate::config::SmsSettings;
use client::TIMEOUT;

/// The sender that the configuration names.
///
/// # Errors
/// The HTTP client cannot be built.
pub fn sender(settings: &SmsSettings) -> Result<Arc<dyn SmsSender>, BoxError> {
    Ok(match settings {
        SmsSettings::Log => Arc::new(LogSms),
        SmsSettings::None => Arc::new(NoSms),
        SmsSettings::Webhook(webhook) => Arc::new(WebhookSms::new(webhook.clone(), TIMEOUT)?),
        SmsSettings::Twilio(account) => Arc::new(TwilioSms::new(account.clone(), TIMEOUT)?),
    })
}
