//! The pages of the demonstration: `/`, which says where everything is, and `/demo`, an example shop with the widget.

use std::net::SocketAddr;
use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::extract::Path;
use axum::response::{Html, IntoResponse as _, Response};
use axum::routing::get;
use http::uri::Authority;
use http::{HeaderMap, HeaderName, HeaderValue, header};
use rust_embed::RustEmbed;
use secrecy::{ExposeSecret as _, SecretString};

use super::Demo;
use crate::api::not_found;
use crate::embedded::{REVALIDATED, StaticFiles};
use crate::front;
use crate::front::escaped;

#[derive(RustEmbed)]
#[folder = "assets/demo/"]
struct DemoFolder;

static FILES: LazyLock<StaticFiles> = LazyLock::new(StaticFiles::of::<DemoFolder>);

/// The start page has styles and pictures of its own, and no script.
const START_POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; \
                            form-action 'none'; frame-ancestors 'none'";
/// What a shop needs that has the widget, and no more.
const SHOP_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
                           frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
                           require-trusted-types-for 'script'; trusted-types 'none'";

const PRINTED_NOW: &str = "printed in the terminal when this server started";
const PRINTED_BEFORE: &str = "printed at the first start, and only then";

/// What the pages tell.
pub struct Facts {
    /// Where the server listens.
    pub address: SocketAddr,
    /// The ids of the demonstration.
    pub demo: Demo,
    /// The address of the administrator.
    pub admin_email: Option<String>,
    /// The password of the administrator, while this process knows it.
    pub password: Option<SecretString>,
}

/// Returns the routes of the pages.
pub fn pages(facts: Facts) -> Router {
    let facts = Arc::new(facts);
    let start = Arc::clone(&facts);
    Router::new()
        .route("/", get(async move |request: HeaderMap| start_page(&start, &request)))
        .route("/demo", get(async move || shop_page(&facts)))
        .route("/demo/assets/{file}", get(asset))
        .merge(front::icon())
}

fn start_page(facts: &Facts, request: &HeaderMap) -> Response {
    let page = fill(
        "start.html",
        facts,
        &[
            ("{{chat}}", &format!("/chat/{}", facts.demo.channel_id)),
            ("{{email}}", facts.admin_email.as_deref().unwrap_or("none")),
            ("{{password}}", password(facts, request)),
            ("{{router}}", facts.demo.router_id.as_str()),
        ],
    );
    // It may hold the password: nobody keeps it, and no page of another origin loads it as something else.
    let private = [
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
    ];
    (front::guarded(START_POLICY), private, page).into_response()
}

fn shop_page(facts: &Facts) -> Response {
    (front::guarded(SHOP_POLICY), fill("shop.html", facts, &[])).into_response()
}

async fn asset(Path(name): Path<String>, request: HeaderMap) -> Response {
    match FILES.get(&name) {
        Some(file) if !name.ends_with(".html") => file.answer(&request, REVALIDATED),
        _ => not_found().await.into_response(),
    }
}

/// The password, where the terminal's own user alone can read it; elsewhere, where it was printed.
fn password<'a>(facts: &'a Facts, request: &HeaderMap) -> &'a str {
    match &facts.password {
        Some(password) if facts.address.ip().is_loopback() && is_own_visit(request) => {
            password.expose_secret()
        }
        Some(_) => PRINTED_NOW,
        None => PRINTED_BEFORE,
    }
}

/// Whether somebody at this machine looks at the page itself. Not so are: scripts of other pages, which may read every
/// answer of this server and name their origin; a name that somebody pointed at this machine; a proxy in between.
fn is_own_visit(request: &HeaderMap) -> bool {
    let is = |name: &str, wanted: &str| request.get(name).is_none_or(|value| value == wanted);
    let host = request.get(header::HOST).and_then(|host| host.to_str().ok()?.parse::<Authority>().ok());
    host.is_some_and(|host| matches!(host.host(), "localhost" | "127.0.0.1" | "[::1]"))
        && !["origin", "forwarded", "x-forwarded-for", "x-forwarded-host"]
            .iter()
            .any(|name| request.contains_key(*name))
        && is("sec-fetch-mode", "navigate")
        && is("sec-fetch-dest", "document")
}

/// A page of the folder with the facts in the places for them, as text.
fn fill(name: &str, facts: &Facts, more: &[(&str, &str)]) -> Html<String> {
    let template = DemoFolder::get(name).map(|file| String::from_utf8_lossy(&file.data).into_owned());
    let (url, channel) = (format!("http://{}", facts.address), facts.demo.channel_id.as_str());
    let common = [("{{url}}", url.as_str()), ("{{channel}}", channel)];
    let filled = common
        .iter()
        .chain(more)
        .fold(template.unwrap_or_default(), |page, (place, text)| page.replace(place, &escaped(text)));
    Html(filled)
}

#[cfg(test)]
mod tests {
    use flowsdk_core::id::{ChannelId, RouterId};
    use http::{Request, StatusCode};
    use http_body_util::BodyExt as _;
    use tower::ServiceExt as _;

    use super::*;

    const SECRET: &str = "one-time-password";

    fn facts(address: &str, password: Option<&str>) -> Facts {
        let demo = Demo {
            channel_id: ChannelId::parse("c1").expect("an id"),
            router_id: RouterId::parse("r1").expect("an id"),
        };
        Facts {
            address: address.parse().expect("an address"),
            demo,
            admin_email: Some("<admin>@flowsdk.local".to_owned()),
            password: password.map(SecretString::from),
        }
    }

    async fn get_page(facts: Facts, path: &str, headers: &[(&str, &str)]) -> (HeaderMap, String) {
        let request =
            headers.iter().fold(Request::get(path), |request, (name, value)| request.header(*name, *value));
        let answer = pages(facts).oneshot(request.body(axum::body::Body::empty()).expect("a request")).await;
        let (head, body) = answer.expect("an answer").into_parts();
        assert_eq!(head.status, StatusCode::OK, "{path}");
        let body = body.collect().await.expect("a body").to_bytes();
        (head.headers, String::from_utf8(body.to_vec()).expect("text"))
    }

    #[tokio::test]
    async fn the_password_is_shown_at_this_machine_alone() {
        let (near, far) = ("127.0.0.1:8080", "0.0.0.0:8080");
        let own: &[(&str, &str)] = &[("host", "localhost:8080"), ("sec-fetch-mode", "navigate")];
        for (address, headers, shown) in [
            (near, own, true),
            ("[::1]:8080", &[("host", "[::1]:8080")], true),
            (near, &[("host", "127.0.0.1:8080")], true),
            (far, own, false),
            ("192.168.0.7:8080", own, false),
            (near, &[], false),
            (near, &[("host", "rebound.example:8080")], false),
            (near, &[("host", "localhost.rebound.example")], false),
            (near, &[("host", "localhost:8080"), ("origin", "https://else.example")], false),
            (near, &[("host", "localhost:8080"), ("x-forwarded-for", "203.0.113.9")], false),
            (near, &[("host", "localhost:8080"), ("sec-fetch-mode", "no-cors")], false),
            (near, &[("host", "localhost:8080"), ("sec-fetch-dest", "iframe")], false),
        ] {
            let (answer, page) = get_page(facts(address, Some(SECRET)), "/", headers).await;
            assert_eq!(page.contains(SECRET), shown, "{address} {headers:?}");
            assert_eq!(page.contains(PRINTED_NOW), !shown, "{address} {headers:?}");
            assert_eq!(answer[header::CACHE_CONTROL], "no-store");
            assert_eq!(answer["cross-origin-resource-policy"], "same-origin");
        }
        let (_, page) = get_page(facts(near, None), "/", own).await;
        assert!(page.contains(PRINTED_BEFORE));
    }

    #[tokio::test]
    async fn every_place_is_filled_with_text() {
        for path in ["/", "/demo"] {
            let (answer, page) = get_page(facts("127.0.0.1:8080", None), path, &[]).await;
            assert!(!page.contains("{{"), "{page}");
            assert!(page.contains("/widget.js?channel=c1"), "{page}");
            assert!(!page.contains("<admin>"), "{page}");
            assert_eq!(answer.get_all(header::CACHE_CONTROL).iter().count(), 1);
            let policy = answer[header::CONTENT_SECURITY_POLICY].to_str().expect("text");
            assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
        }
    }

    #[tokio::test]
    async fn pages_find_their_files() {
        for path in
            ["/demo/assets/start.css", "/demo/assets/shop.css", "/demo/assets/shop.js", "/favicon.ico"]
        {
            get_page(facts("127.0.0.1:8080", None), path, &[]).await;
        }
    }
}
