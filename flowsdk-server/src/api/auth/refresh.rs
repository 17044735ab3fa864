//! `GET /auth/refresh`.

use std::sync::Arc;

use axum::extract::State;

use super::Tokens;
use crate::api::error::ApiError;
use crate::api::guard::Public;
use crate::api::reply::Reply;
use crate::api::state::Logins;

/// Get new tokens
///
/// The bearer token is the refresh token. With strict rotation each counts once.
#[utoipa::path(
    get, path = "/auth/refresh", tag = "auth",
    responses(
        (status = 200, description = "Two new tokens", body = Tokens),
        (status = 401, description = "`token_missing`, `token_invalid`, `session_ended` or `principal_unknown`"),
    ),
    security(("refreshToken" = []))
)]
pub(super) async fn refresh_tokens(
    public: Public,
    State(logins): State<Arc<Logins>>,
) -> Result<Reply<Tokens>, ApiError> {
    let tokens = logins.refresh(public.authorization.as_deref(), &public.origin).await?;
    Ok(Reply(tokens.into()))
}
