//! The port for text messages to users of the administration (rulings A4).
//!
//! Providers are adapters of the server; a use case only names the recipient, the text and the reason.

use std::fmt;

use async_trait::async_trait;
use flowsdk_core::fault::BoxError;
use secrecy::SecretString;

/// Why a message is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SmsPurpose {
    /// It carries the code that lets a user choose a new password.
    PasswordRecovery,
}

impl SmsPurpose {
    /// Returns the name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::PasswordRecovery => "password_recovery",
        }
    }
}

/// A text message to a user, and its reason.
#[derive(Debug, Clone)]
pub struct Sms {
    /// The digits of an E.164 number, with or without the leading `+`.
    pub to: String,
    /// The text that the user reads. It holds the code, hence a secret.
    pub text: SecretString,
    /// Why it is sent.
    pub purpose: SmsPurpose,
    /// Names this message, so that a receiver can tell a repetition.
    pub message_id: String,
}

/// Why a message was not accepted. Neither the number nor the text is part of it.
#[derive(Debug, thiserror::Error)]
pub enum SmsError {
    /// The provider refused this message for good: the same message will be refused again.
    #[error("the SMS provider refused the message: {code}")]
    Refused {
        /// The provider's code, or `http_` and the status where it gave none.
        code: String,
    },
    /// The provider cannot be reached or is overloaded; the same message may be accepted later.
    #[error("the SMS provider is unavailable")]
    Unavailable(#[source] BoxError),
}

/// Sends text messages through a provider.
#[async_trait]
pub trait SmsSender: Send + Sync + fmt::Debug {
    /// Hands the message to the provider. `Ok` means that the provider accepted it, not that it arrived.
    ///
    /// # Errors
    /// [`SmsError::Refused`] when trying again is useless, [`SmsError::Unavailable`] when it is not.
    async fn send(&self, sms: &Sms) -> Result<(), SmsError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_does_not_show_its_text() {
        let sms = Sms {
            to: "5511999990000".to_owned(),
            text: "código 493817".into(),
            purpose: SmsPurpose::PasswordRecovery,
            message_id: "m1".to_owned(),
        };
        assert!(!format!("{sms:?}").contains("493817"));
        assert_eq!(sms.purpose.name(), "password_recovery");
    }
}
