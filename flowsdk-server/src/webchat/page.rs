//! The public chat page `/chat/{channelId}` (spec B 4.1) and the widget `/widget.js` that opens it in any page, embedded
//! in the binary. The chat page works in an iframe of any origin.

use std::sync::LazyLock;

use axum::Router;
use axum::extract::{Path, RawQuery};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use rust_embed::RustEmbed;

use crate::api::not_found;
use crate::embedded::{REVALIDATED, StaticFiles};
use crate::front::{guarded, wants_html};

#[derive(RustEmbed)]
#[folder = "assets/chat/"]
struct ChatFolder;

#[derive(RustEmbed)]
#[folder = "assets/widget/"]
struct WidgetFolder;

static CHAT: LazyLock<StaticFiles> = LazyLock::new(StaticFiles::of::<ChatFolder>);
static WIDGET: LazyLock<StaticFiles> = LazyLock::new(StaticFiles::of::<WidgetFolder>);

/// The file of the page.
const PAGE: &str = "index.html";
/// What people see who leave out the id of the channel.
const MISSING: &str = "missing.html";
/// The icon of the page, and of the site.
const ICON: &str = "icon.svg";
/// The file of the widget.
const SCRIPT: &str = "widget.js";
/// Every page of a site asks for the script, and its name stays the same in the next version.
const MINUTES: &str = "public, max-age=300";

/// Everything from here; images and media of messages from any secure address.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                      img-src 'self' https: data:; media-src 'self' https:; base-uri 'none'; form-action 'none'";

const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

pub(super) fn routes() -> Router {
    Router::new()
        .route("/chat", get(missing))
        .route("/chat/", get(missing))
        .route("/chat/{channel_id}", get(page))
        .route("/chat/assets/{file}", get(asset))
        .route("/widget.js", get(widget))
}

/// Returns the icon of the site.
pub(crate) fn icon(request: &HeaderMap) -> Response {
    CHAT.get(ICON).map_or_else(|| StatusCode::NOT_FOUND.into_response(), |file| file.answer(request, MINUTES))
}

async fn page(request: HeaderMap) -> Response {
    let mut response = file(&CHAT, PAGE, &request, REVALIDATED).await;
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    response
}

/// Tells people how the address goes on, and programs that there is nothing.
async fn missing(request: HeaderMap) -> Response {
    match CHAT.get(MISSING) {
        Some(file) if wants_html(&request) => {
            // Always whole: what is known already is still not a chat.
            let page = file.answer(&HeaderMap::new(), REVALIDATED);
            (StatusCode::NOT_FOUND, guarded(POLICY), page).into_response()
        }
        _ => not_found().await.into_response(),
    }
}

/// The page itself has an address of its own, with its policy.
async fn asset(Path(name): Path<String>, RawQuery(query): RawQuery, request: HeaderMap) -> Response {
    match CHAT.get(&name) {
        Some(file) if !name.ends_with(".html") => file.answer(&request, file.caching(query.as_deref())),
        _ => not_found().await.into_response(),
    }
}

/// Pages of every origin load it, those that isolate themselves too.
async fn widget(request: HeaderMap) -> Response {
    let mut response = file(&WIDGET, SCRIPT, &request, MINUTES).await;
    response.headers_mut().insert(RESOURCE_POLICY, HeaderValue::from_static("cross-origin"));
    response
}

async fn file(files: &StaticFiles, name: &str, request: &HeaderMap, caching: &'static str) -> Response {
    match files.get(name) {
        Some(file) => file.answer(request, caching),
        None => not_found().await.into_response(),
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;

    use super::*;

    #[tokio::test]
    async fn the_widget_is_small() {
        let request = HeaderMap::from_iter([(header::ACCEPT_ENCODING, HeaderValue::from_static("gzip, br"))]);
        let answer = widget(request).await;
        assert_eq!(answer.headers()[header::CONTENT_ENCODING], "gzip");
        let body = answer.into_body().collect().await.expect("a body").to_bytes();
        assert!(body.len() < 6_000, "{} bytes", body.len());
    }
}
