//! The public chat page `/chat/{channelId}` (spec B 4.1), embedded in the binary. It works in an iframe of any origin.

use std::sync::LazyLock;

use axum::Router;
use axum::extract::{Path, RawQuery};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use rust_embed::RustEmbed;

use crate::api::not_found;
use crate::embedded::{REVALIDATED, StaticFiles};
use crate::front::{guarded, wants_html};

#[derive(RustEmbed)]
#[folder = "assets/chat/"]
struct ChatFolder;

static CHAT: LazyLock<StaticFiles> = LazyLock::new(StaticFiles::of::<ChatFolder>);

/// The file of the page.
const PAGE: &str = "index.html";
/// What people see who leave out the id of the channel.
const MISSING: &str = "missing.html";
/// The icon of the page, and of the site.
const ICON: &str = "icon.svg";
/// Every page of a site asks for these files, and their names stay the same in the next version.
pub(super) const MINUTES: &str = "public, max-age=300";

/// Everything from here; images and media of messages from any secure address.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                      img-src 'self' https: data:; media-src 'self' https:; base-uri 'none'; form-action 'none'";

pub(super) fn routes() -> Router {
    Router::new()
        .route("/chat", get(missing))
        .route("/chat/", get(missing))
        .route("/chat/{channel_id}", get(page))
        .merge(assets())
}

/// Returns the route of the files that the page loads.
pub(crate) fn assets() -> Router {
    Router::new().route("/chat/assets/{file}", get(asset))
}

/// Returns the icon of the site.
pub(crate) fn icon(request: &HeaderMap) -> Response {
    CHAT.get(ICON).map_or_else(|| StatusCode::NOT_FOUND.into_response(), |file| file.answer(request, MINUTES))
}

async fn page(request: HeaderMap) -> Response {
    let Some(file) = CHAT.get(PAGE) else { return not_found().await.into_response() };
    let mut response = file.answer(&request, REVALIDATED);
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
