//! `POST /auth/password-recovery/validate`.

use std::sync::Arc;

use axum::extract::State;
use secrecy::SecretString;
use serde::Deserialize;
use utoipa::ToSchema;

use super::Done;
use crate::api::body::{Body, UNKNOWN_CALLER};
use crate::api::error::ApiError;
use crate::api::guard::Public;
use crate::api::reply::Reply;
use crate::api::state::Recoveries;

/// A code, and the password that it buys.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Recovery {
    #[schema(min_length = 1, max_length = 254, example = "ana@example.com")]
    email: String,
    /// Six hexadecimal digits.
    #[schema(value_type = String, min_length = 1, max_length = 64, example = "a1b2c3")]
    code: SecretString,
    /// At most 72 bytes.
    #[schema(value_type = String, format = Password, min_length = 8, max_length = 72)]
    password: SecretString,
}

/// Choose a new password by a recovery code
///
/// Ends every session of the user. Five wrong codes void the code.
#[utoipa::path(
    post, path = "/auth/password-recovery/validate", tag = "auth",
    request_body = Recovery,
    responses(
        (status = 200, description = "The password is changed", body = Done),
        (status = 400, description = "`recovery_code_invalid`, or `validation_failed`"),
        (status = 429, description = "`rate_limited`: too many tries"),
    )
)]
pub(super) async fn validate_recovery(
    public: Public,
    State(recoveries): State<Arc<Recoveries>>,
    Body(body): Body<Recovery, UNKNOWN_CALLER>,
) -> Result<Reply<Done>, ApiError> {
    use secrecy::ExposeSecret as _;
    recoveries.validate(&body.email, body.code.expose_secret(), &body.password, &public.origin).await?;
    Ok(Reply(Done { ok: true }))
}
