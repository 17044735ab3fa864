//! `GET /contact-filters/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::saved_filter::{SavedFilter, SavedFilterId};

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::SavedFilters;

/// Show a saved filter of contacts
#[utoipa::path(
    get, path = "/contact-filters/{id}", tag = "contact-filters",
    params(("id" = SavedFilterId, Path, description = "The filter")),
    responses((status = 200, description = "The filter", body = SavedFilter))
)]
pub(super) async fn get_contact_filter(
    can: Can<marks::Contacts, marks::Read>,
    State(filters): State<Arc<SavedFilters>>,
    PathId(id): PathId<SavedFilterId>,
) -> Result<Reply<SavedFilter>, ApiError> {
    Ok(Reply(filters.get(can.reach(), &id).await?))
}
