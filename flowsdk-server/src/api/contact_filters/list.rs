//! `GET /contact-filters`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::page::PageRequest;
use flowsdk_core::saved_filter::SavedFilter;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::query::{NameParams, Named, OfRouter, PageParams, PageView, Query, RouterParams};
use crate::api::reply::Reply;
use crate::api::state::SavedFilters;

/// List saved filters of contacts
///
/// A caller who is confined to routers sees theirs only.
#[utoipa::path(
    get, path = "/contact-filters", tag = "contact-filters",
    params(PageParams, RouterParams, NameParams),
    responses((status = 200, description = "A page of filters", body = PageView<SavedFilter>))
)]
pub(super) async fn list_contact_filters(
    can: Can<marks::Contacts, marks::Read>,
    State(filters): State<Arc<SavedFilters>>,
    Query((page, (OfRouter(router), Named(query)))): Query<(PageRequest, (OfRouter, Named))>,
) -> Result<Reply<PageView<SavedFilter>>, ApiError> {
    let router = can.admit(router)?;
    let page = filters.list(can.reach(), &router, query.as_ref(), &page).await?;
    Ok(Reply(PageView::of(page, |filter| filter)))
}
