//! The page of a phone.

use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::extract::Path;
use axum::response::{Html, IntoResponse as _, Response};
use axum::routing::get;
use http::{HeaderMap, StatusCode};
use rust_embed::RustEmbed;

use crate::api::not_found;
use crate::embedded::{REVALIDATED, StaticFiles};
use crate::front::{escaped, guarded, icon};

#[derive(RustEmbed)]
#[folder = "assets/phone/"]
struct Folder;

static FILES: LazyLock<StaticFiles> = LazyLock::new(StaticFiles::of::<Folder>);

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      frame-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
/// The files that a business sends are at any address.
const FRAME_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                            img-src 'self' https: http: data:; media-src https: http:; base-uri 'none'; \
                            form-action 'none'; frame-ancestors 'self'";

/// The phone that the page begins with.
pub(crate) const PHONE: &str = "5511987654321";

/// What the page shows first.
#[derive(Debug, Clone)]
pub struct Shown {
    /// The provider's id of the number.
    pub number: String,
    /// The phone that writes to it.
    pub phone: String,
    /// Whether the icon of the page is served here too.
    pub has_icon: bool,
}

/// Returns the routes of the page.
pub(super) fn routes(shown: Shown) -> Router {
    let icons = if shown.has_icon { icon() } else { Router::new() };
    let shown = Arc::new(shown);
    Router::new()
        .route("/simulator", get(async move || page(&shown)))
        .route("/simulator/phone", get(async |request: HeaderMap| file("frame.html", &request, FRAME_POLICY)))
        .route("/simulator/assets/{file}", get(asset))
        .merge(icons)
}

fn page(shown: &Shown) -> Response {
    let template = Folder::get("phone.html").map(|file| String::from_utf8_lossy(&file.data).into_owned());
    let page = template.unwrap_or_default();
    let page =
        page.replace("{{number}}", &escaped(&shown.number)).replace("{{phone}}", &escaped(&shown.phone));
    (guarded(POLICY), Html(page)).into_response()
}

fn file(name: &str, request: &HeaderMap, policy: &'static str) -> Response {
    match FILES.get(name) {
        Some(file) => (guarded(policy), file.answer(request, REVALIDATED)).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

async fn asset(Path(name): Path<String>, request: HeaderMap) -> Response {
    match FILES.get(&name) {
        Some(file) if !name.ends_with(".html") => file.answer(&request, REVALIDATED),
        _ => not_found().await.into_response(),
    }
}
