//! `POST /webchat/media`: a file of a visitor, which they send with the event `message_media` afterwards.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use flowsdk_channels::webchat::{Limits, UploadError, Visitors};
use flowsdk_core::chat::Attachments;
use flowsdk_core::media::{MediaFiles, MediaId, MediaKind, ShownMedia, VisitorFile};
use flowsdk_store::sql::SqlStore;
use http::StatusCode;
use http::request::Parts;
use serde::Serialize;

use super::caller;
use crate::api::ApiError;
use crate::api::body::StreamedBody;
use crate::api::query::Query;
use crate::api::reply::json;
use crate::api::upload::Filename;

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
    Query(filename): Query<Filename>,
    request: Request,
) -> Result<Response, ApiError> {
    let (head, body) = StreamedBody::split(request);
    let received = services.receive(filename, &head, &body).await;
    let ShownMedia { file, link } = body.or_discarded(received).await?;
    let uploaded = Uploaded {
        id: file.id,
        kind: file.kind,
        mime_type: file.mime_type,
        filename: file.filename,
        size: file.size,
        link: link.map(|(link, _)| link),
    };
    Ok(json(StatusCode::CREATED, &uploaded).into_response())
}

impl Services {
    async fn receive(
        &self,
        filename: Filename,
        head: &Parts,
        body: &StreamedBody,
    ) -> Result<ShownMedia, ApiError> {
        let credentials = caller::credentials(&head.headers);
        let caller = caller::of(&head.headers, &head.extensions, self.trusted_proxies);
        let visitor = self.visitors.recognise(&credentials, caller).await?;
        let Attachments { kinds, max_bytes } = visitor.attachments.ok_or(UploadError::Disabled)?;
        let size = body.at_most(max_bytes)?;
        self.limits
            .admit_upload(caller.address, size)
            .map_err(|wait| ApiError::from(UploadError::TooMany).retry_after(wait))?;
        let new = VisitorFile {
            router_id: visitor.router_id,
            session_id: visitor.session_id,
            claim: filename.claim(head),
            kinds,
            most: max_bytes,
        };
        Ok(self.files.receive(new, body.content()).await?)
    }
}
