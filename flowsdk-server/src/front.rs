//! What a browser gets that has nothing but the address of the server.

use axum::Router;
use axum::response::{Html, IntoResponse as _, Response};
use axum::routing::get;
use http::{HeaderMap, HeaderName, HeaderValue, header};

use crate::embedded::REVALIDATED;
use crate::webchat;

const RUNNING: &str = "FlowSDK server is running";

/// Nothing from elsewhere, and in no frame.
const POLICY: &str = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Returns the routes `/`, which says that the server is there and where its API is described, and `/favicon.ico`.
pub(crate) fn routes(has_api: bool) -> Router {
    Router::new().route("/", get(async move |request: HeaderMap| running(&request, has_api))).merge(icon())
}

/// Returns the route of the icon that browsers ask every site for.
pub(crate) fn icon() -> Router {
    Router::new().route("/favicon.ico", get(async |request: HeaderMap| webchat::icon(&request)))
}

/// Whether the client is a browser that shows a page, rather than a program.
pub(crate) fn wants_html(request: &HeaderMap) -> bool {
    request
        .get(header::ACCEPT)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|kinds| kinds.contains("text/html"))
}

/// The headers of a page with a policy. It is asked for anew at each visit.
pub(crate) fn guarded(policy: &'static str) -> [(HeaderName, HeaderValue); 4] {
    [
        (header::CACHE_CONTROL, HeaderValue::from_static(REVALIDATED)),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy)),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    ]
}

/// Returns a text as it stands in a page.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}

fn running(request: &HeaderMap, has_api: bool) -> Response {
    if !wants_html(request) {
        let api = if has_api { "API: /docs\n" } else { "" };
        return format!("{RUNNING}\n{api}").into_response();
    }
    let api = if has_api { "<p><a href=\"docs/\">The administrative API</a></p>" } else { "" };
    let page = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>FlowSDK</title><h1>{RUNNING}</h1>{api}</html>"
    );
    (guarded(POLICY), Html(page)).into_response()
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;

    use super::*;

    #[tokio::test]
    async fn says_where_the_api_is_if_there_is_one() {
        for (accept, has_api, wanted, link) in [
            ("*/*", true, "text/plain; charset=utf-8", "API: /docs"),
            ("*/*", false, "text/plain; charset=utf-8", ""),
            ("text/html,*/*", true, "text/html; charset=utf-8", "href=\"docs/\""),
            ("text/html,*/*", false, "text/html; charset=utf-8", ""),
        ] {
            let request = HeaderMap::from_iter([(header::ACCEPT, HeaderValue::from_static(accept))]);
            let answer = running(&request, has_api);
            assert_eq!(answer.headers()[header::CONTENT_TYPE], wanted);
            let body = answer.into_body().collect().await.expect("a body").to_bytes();
            let text = String::from_utf8_lossy(&body);
            assert!(text.contains(RUNNING) && text.contains(link), "{text}");
            assert_eq!(text.contains("docs"), has_api, "{text}");
        }
    }
}
