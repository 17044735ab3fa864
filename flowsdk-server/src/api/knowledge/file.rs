//! Files of documents, as bodies of requests.

use axum::extract::{FromRequest, Request};
use bytes::Bytes;
use flowsdk_agent::knowledge::{Content, MAX_PDF};
use flowsdk_core::media::Claim;
use http::header;

use crate::api::body::{self, Place};
use crate::api::error::ApiError;
use crate::api::idempotency::{Head, Keyed};
use crate::api::state::ApiState;
use crate::api::upload::Filename;

/// A file of at most [`MAX_PDF`] bytes.
#[derive(Debug)]
pub(super) struct SentFile {
    bytes: Bytes,
    mime_type: Option<String>,
    /// The request, as far as its effect is to be had once.
    pub(super) keyed: Keyed,
    /// The place of a large body, held until the work on it is done.
    pub(super) place: Option<Place>,
}

impl FromRequest<ApiState> for SentFile {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &ApiState) -> Result<Self, ApiError> {
        let head = Head::of(&request, true)?;
        let mime_type = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let mime_type = mime_type.map(str::to_owned);
        let (place, request) = state.large_bodies().admit(request, MAX_PDF).await?;
        let bytes = body::any_bytes(request, MAX_PDF).await?;
        let keyed = head.with(&bytes, state).await?;
        Ok(Self { bytes, mime_type, keyed, place })
    }
}

impl SentFile {
    /// Returns what the file says, if it is one of those that documents are made of.
    ///
    /// # Errors
    /// 422 otherwise.
    pub(super) async fn content(&mut self, Filename(filename): Filename) -> Result<Content, ApiError> {
        let bytes = std::mem::take(&mut self.bytes);
        let claim = Claim { mime_type: self.mime_type.take(), filename };
        let content = body::aside(bytes.len(), move || Content::of(&claim, Vec::from(bytes))).await?;
        Ok(content?)
    }
}
