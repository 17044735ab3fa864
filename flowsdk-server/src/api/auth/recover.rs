//! `POST /auth/password-recovery`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use serde::Deserialize;
use utoipa::ToSchema;

use super::Done;
use crate::api::body::{Body, UNKNOWN_CALLER};
use crate::api::error::ApiError;
use crate::api::guard::Public;
use crate::api::reply;
use crate::api::state::Recoveries;

/// Whose password is lost.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RecoveryRequest {
    #[schema(min_length = 1, max_length = 254, example = "ana@example.com")]
    email: String,
}

/// Ask for a recovery code
///
/// It is sent to the user's phone and counts for 30 minutes. The answer is the same for addresses that nobody has.
#[utoipa::path(
    post, path = "/auth/password-recovery", tag = "auth",
    request_body = RecoveryRequest,
    responses(
        (status = 202, description = "Taken in", body = Done),
        (status = 429, description = "`rate_limited`: too many requests for this address"),
    )
)]
pub(super) async fn recover_password(
    public: Public,
    State(recoveries): State<Arc<Recoveries>>,
    Body(body): Body<RecoveryRequest, UNKNOWN_CALLER>,
) -> Result<Response, ApiError> {
    recoveries.request(&body.email, &public.origin).await?;
    Ok(reply::json(StatusCode::ACCEPTED, &Done { ok: true }))
}
