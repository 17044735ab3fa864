//! Settings for processes with the administrative API only: they hold the secrets of its users.

use flowsdk_auth::bootstrap::BootstrapAdmin;
use flowsdk_auth::token::TokenSettings;

use super::{Environment, SmsSettings, admin, sms, tokens};

/// The users of the administrative API, and how they prove who they are.
#[derive(Debug)]
pub struct Administration {
    /// `JWT_*`.
    pub tokens: TokenSettings,
    /// `ADMIN_EMAIL`, `ADMIN_PASSWORD`.
    pub admin: BootstrapAdmin,
    /// `SMS_*`, `TWILIO_*`.
    pub sms: SmsSettings,
}

/// Reads the settings of the administrative API.
pub(super) fn administration(env: &mut Environment<'_>) -> Administration {
    Administration { tokens: tokens::tokens(env), admin: admin::admin(env), sms: sms::sms(env) }
}
