//! `DELETE /contact-filters/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::saved_filter::SavedFilterId;
use http::StatusCode;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::state::SavedFilters;

/// Delete a saved filter of contacts
#[utoipa::path(
    delete, path = "/contact-filters/{id}", tag = "contact-filters",
    params(("id" = SavedFilterId, Path, description = "The filter")),
    responses((status = 204, description = "Deleted"))
)]
pub(super) async fn delete_contact_filter(
    can: Can<marks::Contacts, marks::Write>,
    State(filters): State<Arc<SavedFilters>>,
    PathId(id): PathId<SavedFilterId>,
) -> Result<StatusCode, ApiError> {
    filters.delete(&can.caller.author(), can.reach(), &id).await?;
    Ok(StatusCode::NO_CONTENT)
}
