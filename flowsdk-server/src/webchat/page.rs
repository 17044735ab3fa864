//! The public chat page `/chat/{channelId}` (spec B 4.1), embedded in the binary. It works in an iframe
//! of any origin.

use axum::Router;
use axum::extract::Path;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::{HeaderMap, StatusCode, header};
use rust_embed::RustEmbed;

use crate::api::not_found;
use crate::embedded::shared;

#[derive(RustEmbed)]
#[folder = "assets/chat/"]
struct Assets;

/// The file of the page.
const PAGE: &str = "index.html";

/// Everything from here; images and media of messages from any secure address.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                      img-src 'self' https: data:; media-src 'self' https:; base-uri 'none'; form-action 'none'";

pub(super) fn routes() -> Router {
    Router::new().route("/chat/{channel_id}", get(page)).route("/chat/assets/{file}", get(asset))
}

async fn page(headers: HeaderMap) -> Response {
    let mut response = file(PAGE, &headers).await;
    let policy = http::HeaderValue::from_static(POLICY);
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    response
}

/// The page itself has an address of its own, with its policy.
async fn asset(Path(name): Path<String>, headers: HeaderMap) -> Response {
    if name.ends_with(".html") {
        return not_found().await.into_response();
    }
    file(&name, &headers).await
}

async fn file(name: &str, headers: &HeaderMap) -> Response {
    let Some(file) = Assets::get(name) else {
        return not_found().await.into_response();
    };
    let tag = format!("\"{}\"", hex(&file.metadata.sha256_hash()[..8]));
    let known = headers.get(header::IF_NONE_MATCH).is_some_and(|value| value.as_bytes() == tag.as_bytes());
    let common = [
        (header::ETAG, tag),
        (header::CACHE_CONTROL, "no-cache".to_owned()),
        (header::REFERRER_POLICY, "no-referrer".to_owned()),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
    ];
    if known {
        return (StatusCode::NOT_MODIFIED, common).into_response();
    }
    let kind = match name.rsplit_once('.').map(|(_, extension)| extension) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "text/plain; charset=utf-8",
    };
    (common, [(header::CONTENT_TYPE, kind)], shared(file.data)).into_response()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;

    use super::*;

    #[tokio::test]
    async fn readers_of_a_file_share_one_copy_of_it() {
        let read = async || {
            let answer = file("chat.js", &HeaderMap::new()).await;
            assert_eq!(answer.status(), StatusCode::OK);
            answer.into_body().collect().await.expect("a body").to_bytes()
        };
        let (first, second) = (read().await, read().await);
        assert!(first.len() > 50_000);
        assert_eq!(first.as_ptr(), second.as_ptr());
    }
}
