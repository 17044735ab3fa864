//! The page `/docs/appearance`, which shows the looks of a chat before they are stored. It sends nothing: looks and a
//! conversation that is made up are drawn in a frame by the components of the chat page.

use std::sync::LazyLock;

use axum::Router;
use axum::extract::Path;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use http::HeaderMap;
use rust_embed::RustEmbed;

use super::error::ApiError;
use crate::embedded::{REVALIDATED, StaticFiles};
use crate::front::guarded;

#[derive(RustEmbed)]
#[folder = "assets/docs/"]
struct Folder;

static FILES: LazyLock<StaticFiles> = LazyLock::new(StaticFiles::of::<Folder>);

const PAGE: &str = "appearance.html";
/// The page in the frame.
const FRAME: &str = "frame.html";

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; frame-src 'self'; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// Avatars come from any secure address, as on the chat page.
const FRAME_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' https: data:; \
                            base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

/// Returns the routes of the page and its files.
pub(super) fn routes() -> Router {
    Router::new().route("/docs/appearance", get(async |request: HeaderMap| file(PAGE, &request))).route(
        "/docs/appearance/{file}",
        get(async |Path(name): Path<String>, request: HeaderMap| file(&name, &request)),
    )
}

fn file(name: &str, request: &HeaderMap) -> Response {
    let Some(file) = FILES.get(name) else { return ApiError::not_found().into_response() };
    let answer = file.answer(request, REVALIDATED);
    match name {
        PAGE => (guarded(POLICY), answer).into_response(),
        FRAME => (guarded(FRAME_POLICY), answer).into_response(),
        _ => answer,
    }
}
