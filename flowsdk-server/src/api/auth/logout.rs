//! `POST /auth/logout`.

use std::sync::Arc;

use axum::extract::State;
use http::StatusCode;

use crate::api::error::ApiError;
use crate::api::guard::AnyUser;
use crate::api::state::Logins;

/// Log out
///
/// Ends every session of the caller: tokens issued before this moment count no more.
#[utoipa::path(
    post, path = "/auth/logout", tag = "auth",
    responses((status = 204, description = "Logged out"))
)]
pub(super) async fn logout(user: AnyUser, State(logins): State<Arc<Logins>>) -> Result<StatusCode, ApiError> {
    logins.logout(&user.id, &user.caller.actor().origin).await?;
    Ok(StatusCode::NO_CONTENT)
}
