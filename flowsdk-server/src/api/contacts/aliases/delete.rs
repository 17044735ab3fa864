//! `DELETE /contacts/{contactId}/aliases/{alias}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::ContactId;
use http::StatusCode;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathIds;
use crate::api::state::Contacts;

/// Remove an identity of a contact
#[utoipa::path(
    delete, path = "/contacts/{contactId}/aliases/{alias}", tag = "contacts",
    params(("contactId" = ContactId, Path, description = "The contact"), ("alias" = String, Path, description = "The alias")),
    responses((status = 204, description = "Removed"))
)]
pub(in crate::api::contacts) async fn delete_contact_alias(
    can: Can<marks::Contacts, marks::Write>,
    State(contacts): State<Arc<Contacts>>,
    PathIds(id, alias): PathIds<ContactId, String>,
) -> Result<StatusCode, ApiError> {
    contacts.remove_alias(&can.caller.author(), can.reach(), &id, &alias).await?;
    Ok(StatusCode::NO_CONTENT)
}
