//! `/auth` (spec A 4.1).

mod desk_login;
mod login;
mod logout;
mod me;
mod recover;
mod refresh;
mod validate;

use flowsdk_auth::login::LoggedIn;
use flowsdk_auth::token::TokenPair;
use flowsdk_auth::user::UserView;
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::routes::{Routes, endpoint};

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .tag("auth", "Login, tokens and password recovery")
        .add(endpoint!(login::login))
        .add(endpoint!(desk_login::desk_login))
        .add(endpoint!(refresh::refresh_tokens))
        .add(endpoint!(logout::logout))
        .add(endpoint!(recover::recover_password))
        .add(endpoint!(validate::validate_recovery))
        .add(endpoint!(me::show_me))
}

/// Who wants in.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Credentials {
    #[schema(min_length = 1, max_length = 254, example = "ana@example.com")]
    email: String,
    #[schema(value_type = String, format = Password, min_length = 1, max_length = 1024)]
    password: SecretString,
}

/// The user who logged in, with their tokens.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct LoginAnswer {
    user: UserView,
    #[serde(flatten)]
    tokens: Tokens,
    /// Always empty.
    permitted_routes: Vec<String>,
}

impl From<LoggedIn> for LoginAnswer {
    fn from(LoggedIn { user, group, tokens }: LoggedIn) -> Self {
        Self { user: (user, group).into(), tokens: tokens.into(), permitted_routes: Vec::new() }
    }
}

/// A pair of tokens.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Tokens {
    /// For `Authorization: Bearer`.
    #[schema(example = "eyJhbGciOiJIUzI1NiJ9.e30.aaaa")]
    access_token: String,
    /// For `GET /auth/refresh`.
    #[schema(example = "eyJhbGciOiJIUzI1NiJ9.e30.bbbb")]
    refresh_token: String,
}

impl std::fmt::Debug for Tokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tokens")
    }
}

impl From<TokenPair> for Tokens {
    fn from(pair: TokenPair) -> Self {
        Self {
            access_token: pair.access.expose_secret().to_owned(),
            refresh_token: pair.refresh.expose_secret().to_owned(),
        }
    }
}

/// It was taken in.
#[derive(Debug, Serialize, ToSchema)]
struct Done {
    #[schema(example = true)]
    ok: bool,
}
