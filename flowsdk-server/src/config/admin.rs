//! `ADMIN_*`: the administrator that a new installation begins with.

use flowsdk_auth::bootstrap::BootstrapAdmin;
use flowsdk_auth::user::Email;
use secrecy::{ExposeSecret as _, SecretString};

use super::Environment;

/// The administrator's address when none is given.
const DEFAULT_ADMIN: &str = "admin@flowsdk.local";

/// Reads the section.
pub(super) fn admin(env: &mut Environment<'_>) -> BootstrapAdmin {
    let text = env.text("ADMIN_EMAIL").unwrap_or_else(|| DEFAULT_ADMIN.to_owned());
    let email = Email::parse(&text).or_else(|error| {
        env.problem("ADMIN_EMAIL", error);
        Email::parse(DEFAULT_ADMIN)
    });
    #[allow(clippy::expect_used, reason = "a constant")]
    let email = email.expect("the default is an address");
    let password = env.text("ADMIN_PASSWORD").map(SecretString::from);
    if password.as_ref().is_some_and(|p| p.expose_secret().len() > flowsdk_core::crypto::MAX_SECRET_BYTES) {
        env.problem("ADMIN_PASSWORD", "must have at most 72 bytes");
    }
    BootstrapAdmin { email, password }
}
