//! Senders that reach nobody.

use async_trait::async_trait;
use flowsdk_auth::sms::{Sms, SmsError, SmsSender};
use secrecy::ExposeSecret as _;

/// Writes the message, with its text, into the log. The default, so that a trial installation needs no
/// provider; whoever reads the log can use the code.
#[derive(Debug, Clone, Copy)]
pub struct LogSms;

#[async_trait]
impl SmsSender for LogSms {
    async fn send(&self, sms: &Sms) -> Result<(), SmsError> {
        tracing::warn!(
            to = sms.to,
            purpose = sms.purpose.name(),
            message_id = sms.message_id,
            text = sms.text.expose_secret(),
            "an SMS was written here instead of being sent; set SMS_DRIVER to send it"
        );
        Ok(())
    }
}

/// Sends nothing, and says so without the text.
#[derive(Debug, Clone, Copy)]
pub struct NoSms;

#[async_trait]
impl SmsSender for NoSms {
    async fn send(&self, sms: &Sms) -> Result<(), SmsError> {
        tracing::warn!(
            purpose = sms.purpose.name(),
            message_id = sms.message_id,
            "an SMS was not sent, because SMS_DRIVER is none"
        );
        Ok(())
    }
}
