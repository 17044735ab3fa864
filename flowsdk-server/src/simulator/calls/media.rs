//! Files: what is told of them, their contents, uploads and deletions.

use axum::Json;
use axum::extract::multipart::MultipartRejection;
use axum::extract::{Multipart, Path, State};
use axum::response::{IntoResponse as _, Response};
use http::{HeaderMap, StatusCode, Uri, header};
use serde_json::json;

use super::{broken, missing, refusal};
use crate::simulator::media::{KeptMedia, MediaFault};
use crate::simulator::provider::Provider;

/// Tells where a file is.
pub(super) fn told_media(provider: &Provider, media: &KeptMedia, uri: &Uri, headers: &HeaderMap) -> Response {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or("localhost");
    // Below the path of the API, which ends before the version and the id.
    let below = uri.path().rsplitn(3, '/').nth(2).unwrap_or_default();
    let mut url = format!("http://{host}{below}/media/{}", media.id);
    if provider.media_fault(&[MediaFault::ForeignHost]).is_some() {
        url = format!("https://elsewhere.example/media/{}", media.id);
    }
    Json(json!({ "messaging_product": "whatsapp", "url": url, "mime_type": media.mime_type, "sha256": media.sha256(),
        "file_size": media.content.len().to_string(), "id": media.id }))
    .into_response()
}

pub(super) async fn content(State(provider): State<Provider>, Path(id): Path<String>) -> Response {
    let Some(media) = provider.media(&id) else { return StatusCode::NOT_FOUND.into_response() };
    let content_type = [(header::CONTENT_TYPE, media.mime_type.clone())];
    match provider.media_fault(&[
        MediaFault::Unavailable,
        MediaFault::Expired,
        MediaFault::Damaged,
        MediaFault::Broken,
    ]) {
        Some(MediaFault::Unavailable) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
        Some(MediaFault::Expired) => StatusCode::NOT_FOUND.into_response(),
        Some(MediaFault::Damaged) => (content_type, "something else").into_response(),
        Some(MediaFault::Broken) => broken(),
        Some(MediaFault::ForeignHost) | None => (content_type, media.content.clone()).into_response(),
    }
}

pub(super) async fn upload(
    State(provider): State<Provider>,
    form: Result<Multipart, MultipartRejection>,
) -> Response {
    let Ok(mut form) = form else { return refusal(100, "The body is no multipart form.", None) };
    let (mut is_whatsapp, mut file) = (false, None);
    while let Ok(Some(field)) = form.next_field().await {
        match field.name() {
            Some("messaging_product") => {
                is_whatsapp = field.text().await.is_ok_and(|text| text == "whatsapp")
            }
            Some("file") => {
                let mime_type = field.content_type().unwrap_or("application/octet-stream").to_owned();
                let name = field.file_name().map(str::to_owned);
                let Ok(content) = field.bytes().await else {
                    return refusal(131_053, "Media upload error", None);
                };
                file = Some((mime_type, name, content));
            }
            _ => {}
        }
    }
    if !is_whatsapp {
        return refusal(100, "The parameter messaging_product is required.", None);
    }
    let Some((mime_type, name, content)) = file else {
        return refusal(100, "The parameter file is required.", None);
    };
    Json(json!({ "id": provider.add_media(&mime_type, name, content) })).into_response()
}

pub(super) async fn delete(
    State(provider): State<Provider>,
    Path((_version, id)): Path<(String, String)>,
) -> Response {
    if provider.delete_media(&id) { Json(json!({ "success": true })).into_response() } else { missing(&id) }
}
