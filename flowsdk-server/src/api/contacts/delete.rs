//! `DELETE /contacts/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::ContactId;
use http::StatusCode;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::query::{Force, ForceParams, Query};
use crate::api::state::Contacts;

/// Delete a contact
///
/// With aliases, opt-ins and webchat identities. One with chats or live sessions stays, unless an administrator forces
/// it: then chats, messages and sessions go with it.
#[utoipa::path(
    delete, path = "/contacts/{id}", tag = "contacts",
    params(("id" = ContactId, Path, description = "The contact"), ForceParams),
    responses(
        (status = 204, description = "Deleted"),
        (status = 409, description = "`in_use`: `details` names the objects that depend on it"),
    )
)]
pub(super) async fn delete_contact(
    can: Can<marks::Contacts, marks::Write>,
    State(contacts): State<Arc<Contacts>>,
    PathId(id): PathId<ContactId>,
    Query(force): Query<Force>,
) -> Result<StatusCode, ApiError> {
    let force = force.of(&can.caller)?;
    contacts.delete(&can.caller.author(), can.reach(), &id, force).await?;
    Ok(StatusCode::NO_CONTENT)
}
