//! `PATCH /contact-filters/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::saved_filter::{SavedFilter, SavedFilterChange, SavedFilterId};

use crate::api::body::Body;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::SavedFilters;

/// Change a saved filter of contacts
#[utoipa::path(
    patch, path = "/contact-filters/{id}", tag = "contact-filters",
    params(("id" = SavedFilterId, Path, description = "The filter")),
    request_body = SavedFilterChange,
    responses((status = 200, description = "The filter", body = SavedFilter))
)]
pub(super) async fn patch_contact_filter(
    can: Can<marks::Contacts, marks::Write>,
    State(filters): State<Arc<SavedFilters>>,
    PathId(id): PathId<SavedFilterId>,
    Body(change): Body<SavedFilterChange>,
) -> Result<Reply<SavedFilter>, ApiError> {
    let (author, reach) = (can.caller.author(), can.reach());
    Ok(Reply(filters.change(&author, reach, &id, change).await?))
}
