//! `ADMIN_*`: the administrator that a new installation begins with.

use flowsdk_auth::bootstrap::BootstrapAdmin;
use flowsdk_auth::user::Email;
use flowsdk_crypto::MAX_SECRET_BYTES;
use secrecy::{ExposeSecret as _, SecretString};

use super::Environment;

/// The administrator's address when none is given.
const DEFAULT_ADMIN: &str = "admin@flowsdk.local";

/// As for every other password.
const MIN_PASSWORD: usize = 8;

/// Reads the `ADMIN_*` settings.
pub(super) fn admin(env: &mut Environment<'_>) -> BootstrapAdmin {
    let text = env.text("ADMIN_EMAIL").unwrap_or_else(|| DEFAULT_ADMIN.to_owned());
    let email = Email::parse(&text).or_else(|error| {
        env.problem("ADMIN_EMAIL", error);
        Email::parse(DEFAULT_ADMIN)
    });
    #[allow(clippy::expect_used, reason = "a constant")]
    let email = email.expect("the default is an address");
    let password = env.text("ADMIN_PASSWORD").map(SecretString::from);
    let length = password.as_ref().map(|password| password.expose_secret().len());
    if length.is_some_and(|length| !(MIN_PASSWORD..=MAX_SECRET_BYTES).contains(&length)) {
        env.problem("ADMIN_PASSWORD", format_args!("must have {MIN_PASSWORD} to {MAX_SECRET_BYTES} bytes"));
    }
    BootstrapAdmin { email, password }
}
