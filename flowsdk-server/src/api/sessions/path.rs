//! Session ids in paths.

use axum::extract::{FromRequestParts, Path};
use flowsdk_core::admin::session::SessionError;
use flowsdk_core::session::SessionId;
use http::request::Parts;

use crate::api::error::ApiError;

/// The session of a path. A text that is no session id names no session.
#[derive(Debug)]
pub(super) struct PathSession(pub(super) SessionId);

impl<S: Send + Sync> FromRequestParts<S> for PathSession {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let path = Path::<String>::from_request_parts(parts, state).await;
        let id = path.ok().and_then(|Path(text)| SessionId::parse(text).ok());
        Ok(Self(id.ok_or(SessionError::NotFound)?))
    }
}
