//! The documents themselves, and the page to try the API out. Everything comes from the binary, so it works offline.

use std::sync::Arc;

use axum::Router;
use axum::extract::Path;
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::get;
use bytes::Bytes;
use flowsdk_core::aside::aside;
use http::{HeaderName, StatusCode, header};
use tokio::sync::OnceCell;
use utoipa_swagger_ui::Config;

use super::appearance_page;
use super::error::ApiError;
use super::routes::twin;
use crate::embedded::shared;

/// Scripts, styles and requests of our own only. The page sets styles in its elements, hence `unsafe-inline` there.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
                      img-src 'self' data:; font-src 'self' data:; connect-src 'self'; base-uri 'none'; \
                      form-action 'none'; frame-ancestors 'none'";

/// The same for everybody, and asked for anew whenever the server may have changed.
const COMMON: [(HeaderName, &str); 4] = [
    (header::CACHE_CONTROL, "no-cache"),
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
];

/// The documents as JSON, once somebody has asked for them.
static DOCUMENT: OnceCell<Bytes> = OnceCell::const_new();
static SOCKETS: OnceCell<Bytes> = OnceCell::const_new();

/// Returns the routes `/openapi.json`, `/asyncapi.json` and `/docs`.
pub(super) fn routes() -> Router {
    let settings = Arc::new(settings());
    let index = Arc::clone(&settings);
    let page = Router::new()
        .route("/docs", get(async || Redirect::to("/docs/")))
        .route("/docs/", get(async move || file("", index)))
        .route("/docs/{file}", get(async move |Path(name): Path<String>| file(&name, settings)));
    let api = get(async || json(&DOCUMENT, || serde_json::to_vec(&super::document())).await);
    let sockets = get(async || json(&SOCKETS, || serde_json::to_vec(&super::asyncapi::document())).await);
    let documents = twin(twin(page, "/openapi.json", &api), "/asyncapi.json", &sockets);
    documents.merge(appearance_page::routes())
}

/// Answers with a document. It takes some milliseconds to build.
async fn json(
    document: &'static OnceCell<Bytes>,
    write: fn() -> serde_json::Result<Vec<u8>>,
) -> Result<Response, ApiError> {
    let build = async || {
        let written = aside(write).await?;
        written.map(Bytes::from).map_err(|error| {
            tracing::error!(%error, "the document cannot be written");
            ApiError::internal()
        })
    };
    let bytes = document.get_or_try_init(build).await?.clone();
    Ok((COMMON, [(header::CONTENT_TYPE, "application/json")], bytes).into_response())
}

fn settings() -> Config<'static> {
    Config::from("/openapi.json")
        .deep_linking(true)
        .display_operation_id(true)
        .doc_expansion("none")
        .filter(true)
        // A token in the browser's storage would outlive the page.
        .persist_authorization(false)
        .show_extensions(true)
        .try_it_out_enabled(true)
        // Otherwise the page would send the document to a validator elsewhere.
        .validator_url("none")
}

/// A file of the page.
fn file(name: &str, settings: Arc<Config<'static>>) -> Response {
    match utoipa_swagger_ui::serve(name, settings) {
        Ok(Some(file)) => {
            let kind = [(header::CONTENT_TYPE, file.content_type)];
            (StatusCode::OK, COMMON, kind, shared(file.bytes)).into_response()
        }
        Ok(None) => ApiError::not_found().into_response(),
        Err(error) => {
            tracing::error!(%error, "the page of the document cannot be made");
            ApiError::internal().into_response()
        }
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;

    use super::*;

    #[tokio::test]
    async fn readers_of_a_file_share_one_copy_of_it() {
        let settings = Arc::new(settings());
        let read = async || {
            let answer = file("swagger-ui-bundle.js", Arc::clone(&settings));
            assert_eq!(answer.status(), StatusCode::OK);
            answer.into_body().collect().await.expect("a body").to_bytes()
        };
        let (first, second) = (read().await, read().await);
        assert!(first.len() > 1_000_000);
        assert_eq!(first.as_ptr(), second.as_ptr());
    }
}
