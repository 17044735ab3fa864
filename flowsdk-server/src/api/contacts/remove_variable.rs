//! `DELETE /contacts/{contactId}/variables/{key}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::ContactId;
use http::StatusCode;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathIds;
use crate::api::state::Contacts;

/// Remove a variable of a contact
#[utoipa::path(
    delete, path = "/contacts/{contactId}/variables/{key}", tag = "contacts",
    params(("contactId" = ContactId, Path, description = "The contact"), ("key" = String, Path, description = "The variable")),
    responses((status = 204, description = "Removed"))
)]
pub(super) async fn delete_contact_variable(
    can: Can<marks::Contacts, marks::Write>,
    State(contacts): State<Arc<Contacts>>,
    PathIds(id, key): PathIds<ContactId, String>,
) -> Result<StatusCode, ApiError> {
    contacts.remove_variable(&can.caller.author(), can.reach(), &id, &key).await?;
    Ok(StatusCode::NO_CONTENT)
}
