//! `PATCH /contact-filters/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::admin::contact_filter::{ContactFilterChange, ContactFilterId, SavedContactFilter};

use crate::api::body::Body;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::ContactFilters;

/// Change a saved filter of contacts
#[utoipa::path(
    patch, path = "/contact-filters/{id}", tag = "contact-filters",
    params(("id" = ContactFilterId, Path, description = "The filter")),
    request_body = ContactFilterChange,
    responses((status = 200, description = "The filter", body = SavedContactFilter))
)]
pub(super) async fn patch_contact_filter(
    can: Can<marks::Contacts, marks::Write>,
    State(filters): State<Arc<ContactFilters>>,
    PathId(id): PathId<ContactFilterId>,
    Body(change): Body<ContactFilterChange>,
) -> Result<Reply<SavedContactFilter>, ApiError> {
    let (author, reach) = (can.caller.author(), can.reach());
    Ok(Reply(filters.change(&author, reach, &id, change).await?))
}
