//! `GET /contact-filters/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::admin::contact_filter::{ContactFilterId, SavedContactFilter};

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::ContactFilters;

/// Show a saved filter of contacts
#[utoipa::path(
    get, path = "/contact-filters/{id}", tag = "contact-filters",
    params(("id" = ContactFilterId, Path, description = "The filter")),
    responses((status = 200, description = "The filter", body = SavedContactFilter))
)]
pub(super) async fn get_contact_filter(
    can: Can<marks::Contacts, marks::Read>,
    State(filters): State<Arc<ContactFilters>>,
    PathId(id): PathId<ContactFilterId>,
) -> Result<Reply<SavedContactFilter>, ApiError> {
    Ok(Reply(filters.get(can.reach(), &id).await?))
}
