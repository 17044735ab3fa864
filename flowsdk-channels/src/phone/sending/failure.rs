//! Why a message was not sent, where it is not the provider who says so.

use flowsdk_core::message::StatusError;

/// A reason of our own. Its code is negative, so that it is none of the provider's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LocalFailure {
    /// The answer of the provider was lost, and no status came. Nobody knows whether the contact has the message, so it is
    /// not sent again (rulings S2).
    UnknownOutcome,
    /// The channel cannot carry the content.
    ContentRefused,
    /// It waited for too long.
    Expired,
    /// The number that should send it is not there any more.
    NumberUnknown,
    /// Its session has another owner since (rulings S14).
    Superseded,
    /// Its template cannot be sent any more.
    TemplateNotApproved,
    /// The contact has revoked their consent since it was dispatched.
    ConsentRevoked,
}

impl LocalFailure {
    /// Returns the code of the message's error.
    pub fn code(self) -> i64 {
        match self {
            Self::UnknownOutcome => -1,
            Self::ContentRefused => -2,
            Self::Expired => -3,
            Self::NumberUnknown => -4,
            Self::Superseded => -5,
            Self::TemplateNotApproved => -6,
            Self::ConsentRevoked => -7,
        }
    }

    /// Returns the stable name.
    pub fn name(self) -> &'static str {
        match self {
            Self::UnknownOutcome => "unknown_outcome",
            Self::ContentRefused => "content_refused",
            Self::Expired => "expired",
            Self::NumberUnknown => "number_unknown",
            Self::Superseded => "superseded",
            Self::TemplateNotApproved => "template_not_approved",
            Self::ConsentRevoked => "consent_revoked",
        }
    }

    /// Returns the error of the message, with the details behind the name.
    pub fn error(self, details: &str) -> StatusError {
        let title =
            if details.is_empty() { self.name().to_owned() } else { format!("{}: {details}", self.name()) };
        StatusError { code: self.code(), title: Some(title) }
    }
}
