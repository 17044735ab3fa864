//! `POST /media`.

use std::sync::Arc;

use axum::extract::{Request, State};
use flowsdk_core::id::RouterId;
use flowsdk_core::media::{MediaKind, MediaView, NewMedia};
use utoipa::IntoParams;

use super::COLLECTION;
use crate::api::body::StreamedBody;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::query::{FromQuery, Query, QueryReader};
use crate::api::reply::Created;
use crate::api::state::MediaFiles;
use crate::api::upload::Filename;

/// What the body is.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
#[allow(dead_code, reason = "the document is made of it")]
struct UploadParams {
    /// The router whose conversations it is for.
    router_id: RouterId,
    /// Its name. An ending such as `.png` has to fit the content.
    #[param(max_length = 255, example = "menu.pdf")]
    filename: Option<String>,
    /// What it is sent as. Without it the content decides.
    kind: Option<MediaKind>,
}

/// The parameters as they are read.
pub(super) struct Upload {
    router_id: Option<RouterId>,
    filename: Filename,
    kind: Option<MediaKind>,
}

impl FromQuery for Upload {
    fn read(query: &mut QueryReader) -> Self {
        let router_id = query.required_id("routerId", RouterId::parse);
        let filename = Filename::read(query);
        Self { router_id, filename, kind: query.one_of("kind", &MediaKind::ALL, MediaKind::name) }
    }
}

/// Upload a file
///
/// The body is the content. Messages of flows name the file by its `id`: `{ "type": "image", "image": { "id": ".." } }`. Files
/// have the types and sizes that every channel carries: images (JPEG, PNG) of 5 MiB, audio and video of 16 MiB, stickers (WebP)
/// of 500 KiB, documents of 100 MiB. What a file is, its first bytes say.
#[utoipa::path(
    post, path = "/media", tag = "media",
    params(UploadParams),
    request_body(content = Vec<u8>, content_type = "application/octet-stream", description = "The content"),
    responses(
        (status = 201, description = "The file", body = MediaView),
        (status = 413, description = "`payload_too_large`: more than 100 MiB"),
        (status = 422, description = "`router_unknown`; `media_empty`; `media_too_large`; `media_type_refused`: a program or \
            page; `media_type_mismatch`: not what its name or `Content-Type` says; `media_kind_refused`: not of this `kind`"),
    )
)]
pub(super) async fn create_media(
    can: Can<marks::Chats, marks::Write>,
    State(files): State<Arc<MediaFiles>>,
    Query(upload): Query<Upload>,
    request: Request,
) -> Result<Created<MediaView>, ApiError> {
    let Upload { router_id: Some(router_id), filename, kind } = upload else {
        return Err(ApiError::internal());
    };
    let (head, body) = StreamedBody::split(request);
    let uploaded = async {
        let new = can.admit(NewMedia { router_id, kind, claim: filename.claim(&head) })?;
        body.at_most(MediaKind::MOST)?;
        Ok::<_, ApiError>(files.upload(&can.caller.author(), new, body.content()).await?)
    };
    let uploaded = uploaded.await;
    let media = MediaView::from(body.or_discarded(uploaded).await?);
    Ok(Created { collection: COLLECTION, id: media.id.to_string(), body: media })
}
