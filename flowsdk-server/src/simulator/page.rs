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
use crate::webchat;

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
    /// Whether nothing but the simulator is at this address. Then what its page takes from the server is here too: the icon,
    /// and the style sheet of the chat.
    pub is_alone: bool,
}

/// Returns the routes of the page.
pub(super) fn routes(shown: Shown) -> Router {
    let borrowed = if shown.is_alone { icon().merge(webchat::assets()) } else { Router::new() };
    let shown = Arc::new(shown);
    Router::new()
        .route("/simulator", get(async move || page(&shown)))
        .route("/simulator/phone", get(async |request: HeaderMap| file("frame.html", &request, FRAME_POLICY)))
        .route("/simulator/assets/{file}", get(asset))
        .merge(borrowed)
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

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use http::Request;
    use http_body_util::BodyExt as _;
    use tower::ServiceExt as _;

    use super::*;
    use crate::simulator::Provider;

    async fn read(routes: &Router, path: &str) -> String {
        let request = Request::get(path).body(Body::empty()).expect("a request");
        let answer = routes.clone().oneshot(request).await.expect("an answer");
        assert_eq!(answer.status(), StatusCode::OK, "{path}");
        let body = answer.into_body().collect().await.expect("a body").to_bytes();
        String::from_utf8_lossy(&body).into_owned()
    }

    #[tokio::test]
    async fn a_simulator_alone_serves_all_that_its_pages_load() {
        let provider = Provider::of_tests(None);
        let shown = Shown { number: "111".to_owned(), phone: PHONE.to_owned(), is_alone: true };
        let routes = crate::simulator::routes(&provider, shown);
        let mut loaded = 0;
        for page in ["/simulator", "/simulator/phone"] {
            let html = read(&routes, page).await;
            for name in ["href=\"", "src=\""] {
                for address in html.split(name).skip(1).filter_map(|rest| rest.split('"').next()) {
                    read(&routes, address).await;
                    loaded += 1;
                }
            }
        }
        assert_eq!(loaded, 5, "icon, styles and script; styles and script");
    }
}
