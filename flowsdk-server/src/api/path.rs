//! Ids in paths.

use std::str::FromStr;

use axum::extract::{FromRequestParts, Path};
use http::request::Parts;

use super::error::ApiError;

/// The two ids of a path.
#[derive(Debug)]
pub struct PathIds<A, B>(pub A, pub B);

impl<S: Send + Sync, A: FromStr, B: FromStr> FromRequestParts<S> for PathIds<A, B> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let path = Path::<(String, String)>::from_request_parts(parts, state).await;
        let Path((first, second)) = path.map_err(|_| ApiError::not_found())?;
        match (first.parse(), second.parse()) {
            (Ok(first), Ok(second)) => Ok(Self(first, second)),
            _ => Err(ApiError::not_found()),
        }
    }
}

/// The only id of a path. A text that is no id names nothing, so it is "not found" (rulings H12).
#[derive(Debug)]
pub struct PathId<T>(pub T);

impl<S: Send + Sync, T: FromStr> FromRequestParts<S> for PathId<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let path = Path::<String>::from_request_parts(parts, state).await;
        let Path(text) = path.map_err(|_| ApiError::not_found())?;
        text.parse().map(Self).map_err(|_| ApiError::not_found())
    }
}
