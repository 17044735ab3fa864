//! `POST /webchat/media`: a file of a visitor, which they send with the event `message_media` afterwards.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use flowsdk_channels::webchat::{AuthError, Limits, Visitors};
use flowsdk_core::media::{MediaFiles, MediaId, MediaKind, VisitorFile};
use flowsdk_core::text::Text;
use flowsdk_store::sql::SqlStore;
use http::{StatusCode, header};
use serde::Serialize;

use super::caller;
use crate::api::ApiError;
use crate::api::body::StreamedBody;
use crate::api::query::{FromQuery, Query, QueryReader};
use crate::api::reply::json;

/// Most characters of a file name in an address.
const MAX_NAME: usize = 255;

/// What the route works with.
pub(super) struct Services {
    pub(super) visitors: Arc<Visitors<SqlStore>>,
    pub(super) files: Arc<MediaFiles<SqlStore>>,
    pub(super) limits: Arc<Limits>,
    pub(super) trusted_proxies: u32,
}

pub(super) fn routes(services: Services) -> Router {
    Router::new().route("/webchat/media", post(upload)).with_state(Arc::new(services))
}

struct Named(Option<String>);

impl FromQuery for Named {
    fn read(query: &mut QueryReader) -> Self {
        let name = query.text("filename").filter(|name| !name.is_empty());
        if name.as_ref().is_some_and(|name| name.chars().count() > MAX_NAME) {
            query.problem("filename", Text::new("No máximo 255 caracteres", "At most 255 characters"));
        }
        Self(name)
    }
}

/// A file as its visitor sees it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Uploaded {
    id: MediaId,
    kind: MediaKind,
    mime_type: Option<String>,
    filename: Option<String>,
    size: Option<u64>,
    link: Option<String>,
}

async fn upload(
    State(services): State<Arc<Services>>,
    Query(Named(filename)): Query<Named>,
    request: Request,
) -> Result<Response, ApiError> {
    let credentials = caller::credentials(request.headers());
    let caller = caller::of(request.headers(), request.extensions(), services.trusted_proxies);
    let visitor = services.visitors.recognise(&credentials, caller).await?;
    let Some(attachments) = visitor.attachments else { return Err(switched_off()) };
    if !services.limits.admit_upload(caller.address) {
        return Err(AuthError::RateLimited.into());
    }
    let mime_type = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let new = VisitorFile {
        router_id: visitor.router_id,
        session_id: visitor.session_id,
        filename,
        mime_type: mime_type.map(str::to_owned),
        kinds: attachments.kinds,
        most: attachments.max_bytes,
    };
    let body = StreamedBody::of(request, attachments.max_bytes).await?;
    let received = services.files.receive(new, body.content()).await;
    let shown = body.or_discarded(received).await?;
    let (file, link) = (shown.file, shown.link.map(|(link, _)| link));
    let uploaded = Uploaded {
        id: file.id,
        kind: file.kind,
        mime_type: file.mime_type,
        filename: file.filename,
        size: file.size,
        link,
    };
    Ok(json(StatusCode::CREATED, &uploaded).into_response())
}

fn switched_off() -> ApiError {
    let text = Text::new("Este canal não aceita arquivos", "This channel takes no files");
    ApiError::new(StatusCode::FORBIDDEN, "attachments_disabled", text)
}
