//! The text of a body, for what is kept as it was written.

use std::collections::HashMap;

use axum::extract::{FromRequest, Request};
use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::{LIMIT, decoded, read};
use crate::api::error::ApiError;

/// The text of a JSON body.
#[derive(Debug, Clone)]
pub struct BodyText(Bytes);

impl BodyText {
    /// Wraps the bytes of a body that was decoded.
    pub(in crate::api) fn of(bytes: Bytes) -> Self {
        Self(bytes)
    }

    /// Returns the number of bytes.
    pub(in crate::api) fn size(&self) -> usize {
        self.0.len()
    }

    /// Returns the text of a member of the body's object.
    pub(in crate::api) fn member(&self, name: &str) -> Option<&str> {
        let mut members: HashMap<String, &RawValue> = serde_json::from_slice(&self.0).ok()?;
        members.remove(name).map(RawValue::get)
    }
}

/// A JSON body, as [`Body`](super::Body) reads it, and its text.
#[derive(Debug)]
pub struct WithText<T> {
    /// The body.
    pub body: T,
    /// Its text.
    pub text: BodyText,
}

impl<S, T> FromRequest<S> for WithText<T>
where
    S: Send + Sync,
    T: ToSchema + DeserializeOwned + Send + 'static,
{
    type Rejection = ApiError;

    async fn from_request(request: Request, _state: &S) -> Result<Self, ApiError> {
        let bytes = read::bytes(request, LIMIT).await?;
        Ok(Self { body: decoded(bytes.clone()).await?, text: BodyText(bytes) })
    }
}
