//! The document itself, and the page to try it out. Everything comes from the binary, so it works offline.

use axum::Router;
use axum::response::Response;
use axum::routing::get;
use bytes::Bytes;
use http::{HeaderName, HeaderValue, StatusCode, header};
use tower_http::set_header::SetResponseHeaderLayer;
use utoipa::openapi::OpenApi;
use utoipa_swagger_ui::{Config, SwaggerUi};

use super::reply;
use super::routes::twin;

/// Scripts, styles and requests of our own only. The page sets styles in its elements, hence `unsafe-inline` there.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
                      img-src 'self' data:; font-src 'self' data:; connect-src 'self'; base-uri 'none'; \
                      form-action 'none'; frame-ancestors 'none'";

/// `/openapi.json` and `/docs`.
///
/// # Errors
/// The document cannot be written as JSON.
pub(super) fn routes(document: &OpenApi) -> serde_json::Result<Router> {
    let bytes = Bytes::from(serde_json::to_vec(document)?);
    let answer = move || {
        let bytes = bytes.clone();
        async move { public(reply::json_bytes(StatusCode::OK, bytes)) }
    };
    let settings = Config::from("/openapi.json")
        .deep_linking(true)
        .display_operation_id(true)
        .doc_expansion("none")
        .filter(true)
        .persist_authorization(false)
        .show_extensions(true)
        .try_it_out_enabled(true)
        // Otherwise the page would send the document to a validator elsewhere.
        .validator_url("none");
    let page = SwaggerUi::new("/docs").config(settings);
    let header = |name: HeaderName, value: &'static str| {
        SetResponseHeaderLayer::overriding(name, HeaderValue::from_static(value))
    };
    let page = Router::from(page)
        .layer(header(header::CONTENT_SECURITY_POLICY, POLICY))
        .layer(header(header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .layer(header(header::REFERRER_POLICY, "no-referrer"))
        .layer(header(header::CACHE_CONTROL, "no-cache"));
    Ok(twin(page, "/openapi.json", &get(answer)))
}

/// The document is the same for everybody.
fn public(mut response: Response) -> Response {
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}
