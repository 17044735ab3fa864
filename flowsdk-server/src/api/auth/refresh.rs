//! `GET /auth/refresh`.

use std::sync::Arc;

use axum::extract::State;
use http::{HeaderValue, Method, header};

use super::Tokens;
use crate::api::error::{ApiError, method_not_allowed};
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
        (status = 429, description = "`rate_limited`: too many refreshes; `Retry-After` says until when"),
    ),
    security(("refreshToken" = []))
)]
pub(super) async fn refresh_tokens(
    public: Public,
    method: Method,
    State(logins): State<Arc<Logins>>,
) -> Result<Reply<Tokens>, ApiError> {
    // A HEAD would make tokens that nobody reads, and with strict rotation use up the one it was asked with.
    if method == Method::HEAD {
        let refused = method_not_allowed().await;
        return Err(refused.with_header(header::ALLOW, HeaderValue::from_static("GET")));
    }
    let tokens = logins.refresh(public.authorization.as_deref(), &public.origin).await?;
    Ok(Reply(tokens.into()))
}
