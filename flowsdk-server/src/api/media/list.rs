//! `GET /media`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::RouterId;
use flowsdk_core::media::{MediaFilter, MediaStatus, MediaView};
use flowsdk_core::page::PageRequest;
use utoipa::IntoParams;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::query::{FromQuery, PageParams, PageView, Query, QueryReader};
use crate::api::reply::Reply;
use crate::api::state::MediaFiles;

/// Which files.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
#[allow(dead_code, reason = "the document is made of it")]
struct MediaParams {
    /// Those of this router.
    #[param(value_type = Option<RouterId>)]
    router_id: Option<String>,
    /// Those whose content stands so: `failed` are those of contacts that could not be fetched.
    #[param(value_type = Option<MediaStatus>)]
    status: Option<String>,
}

impl FromQuery for MediaFilter {
    fn read(query: &mut QueryReader) -> Self {
        Self {
            router_id: query.id("routerId", RouterId::parse),
            status: query.one_of("status", &MediaStatus::ALL, MediaStatus::name),
        }
    }
}

/// List files
#[utoipa::path(
    get, path = "/media", tag = "media",
    params(PageParams, MediaParams),
    responses((status = 200, description = "A page of files", body = PageView<MediaView>))
)]
pub(super) async fn list_media(
    can: Can<marks::Chats, marks::Read>,
    State(files): State<Arc<MediaFiles>>,
    Query((page, filter)): Query<(PageRequest, MediaFilter)>,
) -> Result<Reply<PageView<MediaView>>, ApiError> {
    let filter = can.admit(filter)?;
    let page = files.list(can.reach(), &filter, &page).await?;
    Ok(Reply(PageView::of(page, MediaView::from)))
}
