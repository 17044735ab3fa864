//! `GET /contacts/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::ContactId;

use super::view::ContactDetailsView;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::Contacts;

/// Show a contact
#[utoipa::path(
    get, path = "/contacts/{id}", tag = "contacts",
    params(("id" = ContactId, Path, description = "The contact")),
    responses((status = 200, description = "The contact", body = ContactDetailsView))
)]
pub(super) async fn get_contact(
    can: Can<marks::Contacts, marks::Read>,
    State(contacts): State<Arc<Contacts>>,
    PathId(id): PathId<ContactId>,
) -> Result<Reply<ContactDetailsView>, ApiError> {
    Ok(Reply(contacts.get(can.reach(), &id).await?.into()))
}
