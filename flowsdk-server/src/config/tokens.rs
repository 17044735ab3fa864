//! `JWT_*`: signing of access and refresh tokens.

use std::time::Duration;

use flowsdk_auth::token::TokenSettings;
use secrecy::{ExposeSecret as _, SecretString};

use super::Environment;

/// Fewest characters of a JWT secret (spec A 5.1).
const JWT_SECRET_MIN: usize = 16;
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Reads the `JWT_*` settings.
pub(super) fn tokens(env: &mut Environment<'_>) -> TokenSettings {
    let tokens = TokenSettings {
        access_secret: jwt_secret(env, "JWT_ACCESS_SECRET"),
        refresh_secret: jwt_secret(env, "JWT_REFRESH_SECRET"),
        access_lifetime: env.duration("JWT_ACCESS_EXPIRES_IN", DAY),
        refresh_lifetime: env.duration("JWT_REFRESH_EXPIRES_IN", 7 * DAY),
    };
    if !tokens.access_secret.expose_secret().is_empty()
        && tokens.access_secret.expose_secret() == tokens.refresh_secret.expose_secret()
    {
        env.problem("JWT_REFRESH_SECRET", "must differ from JWT_ACCESS_SECRET");
    }
    tokens
}

fn jwt_secret(env: &mut Environment<'_>, name: &str) -> SecretString {
    let secret = env.secret(name);
    let length = secret.expose_secret().chars().count();
    if length > 0 && length < JWT_SECRET_MIN {
        env.problem(name, format_args!("must have at least {JWT_SECRET_MIN} characters, found {length}"));
    }
    secret
}
