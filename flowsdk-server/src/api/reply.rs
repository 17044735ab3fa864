//! JSON answers.

use std::fmt::Write as _;

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

/// 200 with JSON that a browser saves as a file.
#[derive(Debug)]
pub struct Attachment<T> {
    /// The name of the content.
    pub name: String,
    /// The ending after the name, such as `.flow.json`.
    pub ending: &'static str,
    /// The file.
    pub body: T,
}

impl<T: Serialize> IntoResponse for Attachment<T> {
    fn into_response(self) -> Response {
        let mut response = json(StatusCode::OK, &self.body);
        if let Ok(disposition) = HeaderValue::try_from(disposition(&self.name, self.ending)) {
            response.headers_mut().insert(header::CONTENT_DISPOSITION, disposition);
        }
        response
    }
}

/// Returns the header of a file that a browser saves.
pub(crate) fn disposition(name: &str, ending: &str) -> String {
    named("attachment", name, ending)
}

/// Returns the header of a file that a browser shows.
pub(crate) fn inline_disposition(name: &str) -> String {
    named("inline", name, "")
}

/// Returns the header that names a file (RFC 6266): in plain letters, and as it is in `filename*` (RFC 8187),
/// where that is another one.
fn named(how: &str, name: &str, ending: &str) -> String {
    let is_plain = |letter: &char| letter.is_ascii_alphanumeric() || "._-".contains(*letter);
    let mut plain = String::new();
    for letter in name.chars() {
        // No dot in front, which hides a file, and no two separators in a row.
        if is_plain(&letter) && !(plain.is_empty() && letter == '.') {
            plain.push(letter);
        } else if !plain.is_empty() && !plain.ends_with('-') {
            plain.push('-');
        }
    }
    let plain = plain.trim_end_matches(['-', '.']);
    let plain = if plain.is_empty() { "export" } else { plain };
    let mut disposition = format!("{how}; filename=\"{plain}{ending}\"");
    if plain != name {
        // Letters of RFC 8187 that need no escape; a path is none of a file's name.
        let name = name.trim().replace(['/', '\\'], "-");
        disposition.push_str("; filename*=UTF-8''");
        for byte in name.bytes().chain(ending.bytes()) {
            if byte.is_ascii_alphanumeric() || b"!#$&+-.^_`|~".contains(&byte) {
                disposition.push(char::from(byte));
            } else {
                // Writing to a string cannot fail.
                let _infallible = write!(disposition, "%{byte:02X}");
            }
        }
    }
    disposition
}

/// Adds `Location`, as a path below the first server of the document.
pub(super) fn with_location(mut response: Response, collection: &str, id: &str) -> Response {
    if let Ok(location) = HeaderValue::try_from(format!("/api{collection}/{id}")) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    response
}

/// A JSON answer that must not be cached: it depends on the caller, and it may hold a token.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_names_that_every_browser_can_save() {
        for (name, expected) in [
            ("orders", r#"attachment; filename="orders.json""#),
            (
                "Boas vindas",
                r#"attachment; filename="Boas-vindas.json"; filename*=UTF-8''Boas%20vindas.json"#,
            ),
            ("Saudação", r#"attachment; filename="Sauda-o.json"; filename*=UTF-8''Sauda%C3%A7%C3%A3o.json"#),
            ("日本", r#"attachment; filename="export.json"; filename*=UTF-8''%E6%97%A5%E6%9C%AC.json"#),
            ("../a\"\r\nb", r#"attachment; filename="a-b.json"; filename*=UTF-8''..-a%22%0D%0Ab.json"#),
        ] {
            let found = disposition(name, ".json");
            assert_eq!(found, expected);
            assert!(HeaderValue::try_from(found).is_ok(), "{name}");
        }
    }
}
