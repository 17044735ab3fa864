//! `POST /auth/desk-login`.

use std::sync::Arc;

use axum::extract::State;

use super::{Credentials, LoginAnswer};
use crate::api::body::{Body, UNKNOWN_CALLER};
use crate::api::error::ApiError;
use crate::api::guard::Public;
use crate::api::reply::Reply;
use crate::api::state::Logins;

/// Log in to the desk
///
/// As `POST /auth/login`; an agent can log in only within their login schedule.
#[utoipa::path(
    post, path = "/auth/desk-login", tag = "auth",
    request_body = Credentials,
    responses(
        (status = 200, description = "The user with their group, and two tokens", body = LoginAnswer),
        (status = 401, description = "`invalid_credentials`: no such user, or another password"),
        (status = 403, description = "`schedule_blocked`: outside of the agent's login schedule"),
        (status = 429, description = "`rate_limited`: too many failures; `Retry-After` says until when"),
    )
)]
pub(super) async fn desk_login(
    public: Public,
    State(logins): State<Arc<Logins>>,
    Body(body): Body<Credentials, UNKNOWN_CALLER>,
) -> Result<Reply<LoginAnswer>, ApiError> {
    let logged_in = logins.desk_login(&body.email, &body.password, &public.origin).await?;
    Ok(Reply(logged_in.into()))
}
