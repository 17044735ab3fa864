//! The bytes of a body.

use std::time::Duration;

use axum::body::{Body, HttpBody as _};
use axum::extract::Request;
use bytes::{Bytes, BytesMut};
use flowsdk_core::text::Text;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use http_body_util::BodyExt as _;
use tokio::time::Instant;

use crate::api::error::ApiError;

/// How long a body may take to arrive, and how much longer for each [`SLOWEST`] bytes that have arrived.
const PATIENCE: Duration = Duration::from_secs(15);
/// Bytes a second; half a Mbit/s.
const SLOWEST: usize = 64 << 10;
/// How long a body that is kept in memory may take at most; 32 MiB over 3 Mbit/s fit into it.
const PATIENCE_AT_MOST: Duration = Duration::from_secs(90);

/// How much of a body that is too long is read all the same, and for how long. Many clients send all of it before they
/// look at the answer; a connection that is closed under them shows them a broken pipe instead.
const DRAINED: usize = 16 << 20;
const DRAINED_FOR: Duration = Duration::from_secs(2);

/// The whole body of a JSON request; one that says or shows that it is too long is not kept, and not read for long.
pub(in crate::api) async fn bytes(request: Request, max: usize) -> Result<Bytes, ApiError> {
    if !is_json(request.headers()) {
        let text = Text::new("O conteúdo deve ser application/json", "The content must be application/json");
        return Err(unsupported(text));
    }
    any_bytes(request, max).await
}

/// Returns the error for a body of an unsupported media type.
pub(in crate::api) fn unsupported(text: Text) -> ApiError {
    ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", text)
}

/// The same of any request.
pub(crate) async fn any_bytes(request: Request, max: usize) -> Result<Bytes, ApiError> {
    let said = said(request.headers());
    if said.is_some_and(|length| length > max as u64) {
        discard(request).await;
        return Err(too_large(max as u64));
    }
    let mut body = request.into_body();
    match collect(&mut body, max).await {
        Ok(bytes) => Ok(bytes),
        Err(Broken::TooLong) => {
            drain(&mut body).await;
            Err(too_large(max as u64))
        }
        Err(broken) => {
            tracing::debug!(?broken, "a body broke off");
            let text = Text::new("O corpo chegou incompleto", "The body arrived incomplete");
            // The rest of the body is not waited for.
            let error = ApiError::new(StatusCode::BAD_REQUEST, "validation_failed", text);
            Err(error.with_header(header::CONNECTION, HeaderValue::from_static("close")))
        }
    }
}

/// Returns the length that a body says it has.
pub(super) fn said(headers: &HeaderMap) -> Option<u64> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Why a body is not there.
#[derive(Debug)]
enum Broken {
    TooLong,
    TooSlow,
    Gone,
}

/// Reads a body. It has the more time the more of it has come, so that a trickle holds nothing for long.
async fn collect(body: &mut Body, max: usize) -> Result<Bytes, Broken> {
    let begun = Instant::now();
    let mut bytes = BytesMut::new();
    loop {
        let deadline = begun + patience_in_memory(bytes.len());
        let frame =
            tokio::time::timeout_at(deadline, body.frame()).await.map_err(|_elapsed| Broken::TooSlow)?;
        let Some(frame) = frame else {
            return Ok(bytes.freeze());
        };
        // Trailers are nobody's business.
        let Ok(data) = frame.map_err(|_broken| Broken::Gone)?.into_data() else { continue };
        if bytes.len() + data.len() > max {
            return Err(Broken::TooLong);
        }
        // Most bodies come in one piece, which needs no copy.
        if bytes.is_empty() && body.is_end_stream() {
            return Ok(data);
        }
        bytes.extend_from_slice(&data);
    }
}

/// Returns the time for a body of which so much has come.
pub(super) fn patience(bytes: usize) -> Duration {
    let longer = Duration::from_millis((bytes as u64 * 1_000) / SLOWEST as u64);
    PATIENCE + longer
}

/// Returns the same for a body that is kept in memory.
fn patience_in_memory(bytes: usize) -> Duration {
    patience(bytes).min(PATIENCE_AT_MOST)
}

/// Reads the body of a request that is refused, as far as its client may not look at the answer before.
pub(super) async fn discard(request: Request) {
    // A client that asks first sends nothing when it is refused.
    if !request.headers().contains_key(header::EXPECT) {
        drain(&mut request.into_body()).await;
    }
}

/// Reads the rest of a body and throws it away, up to [`DRAINED`] and [`DRAINED_FOR`].
pub(super) async fn drain(body: &mut Body) {
    let read = async {
        let mut left = DRAINED;
        while let Some(Ok(frame)) = body.frame().await {
            left = left.saturating_sub(frame.data_ref().map_or(0, Bytes::len));
            if left == 0 {
                break;
            }
        }
    };
    // A rest that was not read in time stays unread: the connection ends with the answer.
    let _over = tokio::time::timeout(DRAINED_FOR, read).await;
}

/// `application/json`, or a type written in it (`application/problem+json`).
pub(in crate::api) fn is_json(headers: &HeaderMap) -> bool {
    let value = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let subtype = kind.strip_prefix("application/");
    subtype.is_some_and(|subtype| subtype == "json" || subtype.ends_with("+json"))
}

pub(super) fn too_large(max: u64) -> ApiError {
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
        let begun = Instant::now();
        let error = bytes(request, 10).await.expect_err("nothing comes");
        assert!(begun.elapsed() <= Duration::from_secs(16), "{:?}", begun.elapsed());
        let answer = axum::response::IntoResponse::into_response(error);
        assert_eq!(answer.status(), StatusCode::BAD_REQUEST);
    }

    /// How long it took until the end of a body that comes in pieces of this size, one a second.
    async fn trickled(piece: usize, pieces: usize) -> (bool, Duration) {
        let stream = futures_util::stream::unfold(0, move |sent| async move {
            tokio::time::sleep(Duration::from_secs(1)).await;
            (sent < pieces).then(|| (Ok::<_, std::io::Error>(Bytes::from(vec![b' '; piece])), sent + 1))
        });
        let request = axum::extract::Request::builder().header(header::CONTENT_TYPE, "application/json");
        let request = request.body(Body::from_stream(stream)).expect("a request");
        let begun = Instant::now();
        (bytes(request, 1 << 20).await.is_ok(), begun.elapsed())
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_has_the_longer_the_more_of_it_comes() {
        assert!(trickled(32 << 10, 20).await.0, "half as fast, but short");
        let (whole, after) = trickled(1, 1 << 20).await;
        assert!(!whole && after < Duration::from_secs(17), "{after:?}");
        let (whole, after) = trickled(10 << 10, 1_000).await;
        assert!(!whole && after < Duration::from_secs(20), "{after:?}");
        assert_eq!(patience_in_memory(32 << 20), PATIENCE_AT_MOST);
    }

    /// The rest of a body of `chunks` MiB after it was refused.
    async fn left_of(chunks: usize, head: &[(header::HeaderName, &str)]) -> usize {
        let sent = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let count = std::sync::Arc::clone(&sent);
        let chunk = move |_| {
            count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            Ok::<_, std::io::Error>(Bytes::from(vec![b' '; 1 << 20]))
        };
        let body = futures_util::StreamExt::map(futures_util::stream::iter(0..chunks), chunk);
        let mut request = axum::extract::Request::builder().header(header::CONTENT_TYPE, "application/json");
        for (name, value) in head {
            request = request.header(name, *value);
        }
        let request = request.body(Body::from_stream(body)).expect("a request");
        let error = bytes(request, 1 << 20).await.expect_err("too large");
        assert_eq!(error.status(), StatusCode::PAYLOAD_TOO_LARGE);
        chunks - sent.load(std::sync::atomic::Ordering::Relaxed)
    }

    #[tokio::test]
    async fn a_body_that_is_too_long_is_read_to_its_end_if_that_is_near() {
        let length = (header::CONTENT_LENGTH, "8388608");
        assert_eq!(left_of(8, &[]).await, 0, "it shows it");
        assert_eq!(left_of(8, std::slice::from_ref(&length)).await, 0, "it says it");
        assert_eq!(left_of(8, &[length, (header::EXPECT, "100-continue")]).await, 8, "nothing is asked for");
        assert!(left_of(100, &[]).await > 80, "that of a flood is not");
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_is_too_long_and_slow_is_answered_all_the_same() {
        let never = futures_util::stream::pending::<Result<Bytes, std::io::Error>>();
        let request = axum::extract::Request::builder()
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::CONTENT_LENGTH, "20");
        let request = request.body(Body::from_stream(never)).expect("a request");
        let error = bytes(request, 10).await.expect_err("too large");
        assert_eq!(error.status(), StatusCode::PAYLOAD_TOO_LARGE);
    }
}
