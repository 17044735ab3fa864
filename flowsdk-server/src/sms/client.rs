//! What the adapters over HTTP have in common.

use std::time::Duration;

use flowsdk_auth::sms::SmsError;
use reqwest::StatusCode;

/// How long a provider may take for one message, connection included.
pub(super) const TIMEOUT: Duration = Duration::from_secs(5);

/// A failure on the way. Addresses are left out: a webhook's may hold a token.
pub(super) fn unreachable(error: reqwest::Error) -> SmsError {
    SmsError::Unavailable(error.without_url().into())
}

/// An answer after which the same message may be accepted later.
pub(super) fn later(status: StatusCode) -> SmsError {
    SmsError::Unavailable(format!("HTTP {}", status.as_u16()).into())
}

/// The code of a refusal without a code of its own.
pub(super) fn http_code(status: StatusCode) -> String {
    format!("http_{}", status.as_u16())
}
