//! The bytes of a body.

use std::time::Duration;

use axum::extract::Request;
use bytes::Bytes;
use flowsdk_core::text::Text;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};

use crate::api::error::ApiError;

/// How long a body may take to arrive; 32 MiB over 3 Mbit/s fit into it.
const PATIENCE: Duration = Duration::from_secs(90);

/// The whole body of a JSON request; one that says or shows that it is too long is not read further.
pub(in crate::api) async fn bytes(request: Request, max: usize) -> Result<Bytes, ApiError> {
    if !is_json(request.headers()) {
        let text = Text::new("O conteúdo deve ser application/json", "The content must be application/json");
        return Err(unsupported(text));
    }
    any_bytes(request, max).await
}

/// What a body must be.
pub(in crate::api) fn unsupported(text: Text) -> ApiError {
    ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", text)
}

/// The same of any request.
pub(in crate::api) async fn any_bytes(request: Request, max: usize) -> Result<Bytes, ApiError> {
    let said = request.headers().get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok());
    if said.and_then(|length| length.parse::<u64>().ok()).is_some_and(|length| length > max as u64) {
        return Err(too_large(max));
    }
    let body = Limited::new(request.into_body(), max).collect();
    match tokio::time::timeout(PATIENCE, body).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large(max)),
        broken => {
            let error =
                broken.map_or_else(|_slow| "too slow".to_owned(), |ended| format!("{:?}", ended.err()));
            tracing::debug!(error, "a body broke off");
            let text = Text::new("O corpo chegou incompleto", "The body arrived incomplete");
            // What is left of it is not waited for.
            let error = ApiError::new(StatusCode::BAD_REQUEST, "validation_failed", text);
            Err(error.with_header(header::CONNECTION, HeaderValue::from_static("close")))
        }
    }
}

/// `application/json`, or a type written in it (`application/problem+json`).
pub(in crate::api) fn is_json(headers: &HeaderMap) -> bool {
    let value = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let subtype = kind.strip_prefix("application/");
    subtype.is_some_and(|subtype| subtype == "json" || subtype.ends_with("+json"))
}

fn too_large(max: usize) -> ApiError {
    let text = Text::of(
        format!("O corpo pode ter no máximo {max} bytes"),
        format!("The body may have at most {max} bytes"),
    );
    ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "payload_too_large", text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_counts_as_json() {
        for (value, json) in [
            ("application/json", true),
            ("Application/JSON; charset=utf-8", true),
            ("application/merge-patch+json", true),
            ("text/plain", false),
            ("text/json", false),
            ("application/x-www-form-urlencoded", false),
            ("", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::CONTENT_TYPE, value.parse().expect("a value"));
            assert_eq!(is_json(&headers), json, "{value:?}");
        }
        assert!(!is_json(&HeaderMap::new()));
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_does_not_come_is_not_waited_for_without_end() {
        let never = futures_util::stream::pending::<Result<Bytes, std::io::Error>>();
        let request = axum::extract::Request::builder().header(header::CONTENT_TYPE, "application/json");
        let request = request.body(axum::body::Body::from_stream(never)).expect("a request");
        let error = bytes(request, 10).await.expect_err("nothing comes");
        let answer = axum::response::IntoResponse::into_response(error);
        assert_eq!(answer.status(), StatusCode::BAD_REQUEST);
    }
}
