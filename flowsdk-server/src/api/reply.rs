//! JSON answers.

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use serde::Serialize;

use super::error::ApiError;

/// 200 with a JSON body.
#[derive(Debug)]
pub struct Reply<T>(pub T);

impl<T: Serialize> IntoResponse for Reply<T> {
    fn into_response(self) -> Response {
        json(StatusCode::OK, &self.0)
    }
}

/// 201 with a JSON body and where the new record is.
#[derive(Debug)]
pub struct Created<T, C = &'static str> {
    /// Its collection, such as `/users`.
    pub collection: C,
    /// Its id.
    pub id: String,
    /// The record.
    pub body: T,
}

impl<T: Serialize, C: AsRef<str>> IntoResponse for Created<T, C> {
    fn into_response(self) -> Response {
        with_location(json(StatusCode::CREATED, &self.body), self.collection.as_ref(), &self.id)
    }
}

/// Adds `Location`, as a path below the first server of the document.
pub(super) fn with_location(mut response: Response, collection: &str, id: &str) -> Response {
    if let Ok(location) = HeaderValue::try_from(format!("/api{collection}/{id}")) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    response
}

/// A JSON answer that nobody keeps: what stands in it depends on who asked, and it may hold a token.
pub(crate) fn json(status: StatusCode, body: &impl Serialize) -> Response {
    match serde_json::to_vec(body) {
        Ok(bytes) => json_bytes(status, bytes),
        Err(error) => {
            tracing::error!(%error, "an answer cannot be written as JSON");
            ApiError::internal().into_response()
        }
    }
}

/// The same for JSON that is written already.
pub(super) fn json_bytes(status: StatusCode, bytes: impl Into<Body>) -> Response {
    let mut response = Response::new(bytes.into());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}
