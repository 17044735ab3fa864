//! `GET /media/{id}/content`: the content of a file, by a signed link.

use std::ops::{Bound, Range};
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{MethodRouter, get};
use flowsdk_core::media::{MediaFile, MediaFiles, MediaId};
use flowsdk_core::text::Text;
use flowsdk_store::sql::SqlStore;
use headers::{Header as _, Range as RangeHeader};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use utoipa::IntoParams;
use utoipa_axum::router::UtoipaMethodRouter;

use crate::api::ApiError;
use crate::api::path::PathId;
use crate::api::query::{FromQuery, Query, QueryReader};
use crate::api::reply::{disposition, inline_disposition};

const PATH: &str = "/media/{id}/content";
/// How long whoever has it may show it again: about as long as its link.
const KEPT: &str = "private, max-age=3600";
/// Whatever it is, it runs nothing and loads nothing.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; media-src 'self'; sandbox";
/// Types that browsers show and do not run. Anything else is saved.
const SHOWN: [&str; 16] = [
    "image/jpeg",
    "image/png",
    "image/gif",
    "image/webp",
    "audio/aac",
    "audio/amr",
    "audio/mpeg",
    "audio/mp4",
    "audio/ogg",
    "audio/wav",
    "audio/webm",
    "video/mp4",
    "video/3gpp",
    "video/webm",
    "text/plain",
    "application/pdf",
];

type Files = MediaFiles<SqlStore>;

/// Returns the route of contents.
pub(crate) fn routes(files: Arc<Files>) -> Router {
    crate::api::twin(Router::new(), PATH, &get(get_media_content).with_state(files))
}

/// Returns its part of the API's document.
pub(crate) fn operation<S: Clone + Send + Sync + 'static>() -> UtoipaMethodRouter<S> {
    let (schemas, paths, _): UtoipaMethodRouter<Arc<Files>> = utoipa_axum::routes!(get_media_content);
    (schemas, paths, MethodRouter::new())
}

/// The end and the signature of a link.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
struct LinkParams {
    /// When the link ends, in seconds since 1970.
    expires: i64,
    /// It is of the file, its router and `expires`.
    signature: String,
}

impl FromQuery for LinkParams {
    fn read(query: &mut QueryReader) -> Self {
        // What is wrong with a link is nobody's business: it is one answer.
        Self {
            expires: query.text("expires").and_then(|text| text.parse().ok()).unwrap_or_default(),
            signature: query.text("signature").unwrap_or_default(),
        }
    }
}

/// Get the content of a file
///
/// For whoever has a link, as answers with files have it. One range of bytes can be asked for.
#[utoipa::path(
    get, path = "/media/{id}/content", tag = "media",
    params(("id" = MediaId, Path, description = "The file"), LinkParams),
    responses(
        (status = 200, description = "The content", body = Vec<u8>, content_type = "application/octet-stream"),
        (status = 206, description = "The range", body = Vec<u8>, content_type = "application/octet-stream"),
        (status = 403, description = "`link_invalid`: the link is wrong, or its time is over"),
        (status = 404, description = "`not_found`: the content is not here, or was deleted"),
        (status = 416, description = "`range_invalid`: the content has no such range"),
    )
)]
async fn get_media_content(
    State(files): State<Arc<Files>>,
    PathId(id): PathId<MediaId>,
    Query(link): Query<LinkParams>,
    request: HeaderMap,
) -> Result<Response, ApiError> {
    let file = files.follow(&id, link.expires, &link.signature).await?;
    let size = file.size.unwrap_or_default();
    let tag = file.sha256.as_ref().map(|sha256| format!("\"{sha256}\""));
    let is_known = tag
        .as_deref()
        .is_some_and(|tag| request.get(header::IF_NONE_MATCH).is_some_and(|known| known == tag));
    if is_known {
        return Ok((head(&file, tag.as_deref()), StatusCode::NOT_MODIFIED).into_response());
    }
    let part = match asked(&request, size) {
        Ok(part) => part,
        Err(()) => return Err(no_such_range(size)),
    };
    let range = part.clone().unwrap_or(0..size);
    let length = range.end - range.start;
    let content = files.content(&file, range.clone()).await?;
    let mut answer = (head(&file, tag.as_deref()), Body::from_stream(content)).into_response();
    answer.headers_mut().insert(header::CONTENT_LENGTH, length.into());
    if part.is_some() {
        *answer.status_mut() = StatusCode::PARTIAL_CONTENT;
        let place = format!("bytes {}-{}/{size}", range.start, range.end - 1);
        if let Ok(place) = HeaderValue::try_from(place) {
            answer.headers_mut().insert(header::CONTENT_RANGE, place);
        }
    }
    Ok(answer)
}

fn head(file: &MediaFile, tag: Option<&str>) -> HeaderMap {
    let mime = file.mime_type.as_deref().filter(|mime| SHOWN.contains(mime));
    let name = file.filename.as_deref().unwrap_or(file.kind.name());
    let disposition = if mime.is_some() { inline_disposition(name) } else { disposition(name, "") };
    let mut head = HeaderMap::new();
    let mut set = |name, value: &str| {
        if let Ok(value) = HeaderValue::try_from(value) {
            head.insert(name, value);
        }
    };
    set(header::CONTENT_TYPE, mime.unwrap_or("application/octet-stream"));
    set(header::CONTENT_DISPOSITION, &disposition);
    set(header::ACCEPT_RANGES, "bytes");
    set(header::CACHE_CONTROL, KEPT);
    // Browsers show a PDF in a page of their own, which this policy would keep shut.
    if mime != Some("application/pdf") {
        set(header::CONTENT_SECURITY_POLICY, POLICY);
    }
    set(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(header::REFERRER_POLICY, "no-referrer");
    // Pages of other origins show what their visitors were sent.
    set(header::HeaderName::from_static("cross-origin-resource-policy"), "cross-origin");
    if let Some(tag) = tag {
        set(header::ETAG, tag);
    }
    head
}

/// Returns the range that a request asks for; `None`, if it asks for everything, or for what need not be answered so.
///
/// # Errors
/// There is no such range.
fn asked(request: &HeaderMap, size: u64) -> Result<Option<Range<u64>>, ()> {
    // A range of another content than the client has is of no use to it.
    if request.contains_key(header::IF_RANGE) {
        return Ok(None);
    }
    let mut values = request.get_all(header::RANGE).iter();
    let Ok(asked) = RangeHeader::decode(&mut values) else { return Ok(None) };
    let mut ranges = asked.satisfiable_ranges(size);
    let Some((start, end)) = ranges.next() else { return Err(()) };
    if ranges.next().is_some() {
        return Ok(None);
    }
    let start = match start {
        Bound::Included(start) => start,
        Bound::Excluded(start) => start + 1,
        Bound::Unbounded => 0,
    };
    let end = match end {
        Bound::Included(end) => end.saturating_add(1).min(size),
        Bound::Excluded(end) => end.min(size),
        Bound::Unbounded => size,
    };
    if start < end { Ok(Some(start..end)) } else { Err(()) }
}

fn no_such_range(size: u64) -> ApiError {
    let text = Text::new("O arquivo não tem esta parte", "The file has no such part");
    let error = ApiError::new(StatusCode::RANGE_NOT_SATISFIABLE, "range_invalid", text);
    match HeaderValue::try_from(format!("bytes */{size}")) {
        Ok(value) => error.with_header(header::CONTENT_RANGE, value),
        Err(_) => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_range_is_answered() {
        for (value, size, expected) in [
            ("bytes=0-", 10, Ok(Some(0..10))),
            ("bytes=0-3", 10, Ok(Some(0..4))),
            ("bytes=7-99", 10, Ok(Some(7..10))),
            ("bytes=-3", 10, Ok(Some(7..10))),
            ("bytes=10-", 10, Err(())),
            ("bytes=0-1,5-6", 10, Ok(None)),
            ("lines=1-2", 10, Ok(None)),
            ("bytes=5-2", 10, Err(())),
        ] {
            let request = HeaderMap::from_iter([(header::RANGE, value.parse().expect("a value"))]);
            assert_eq!(asked(&request, size), expected, "{value}");
        }
        assert_eq!(asked(&HeaderMap::new(), 10), Ok(None));
    }
}
