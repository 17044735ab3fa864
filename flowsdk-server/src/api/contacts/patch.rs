//! `PATCH /contacts/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::admin::contact::ContactNaming;
use flowsdk_core::id::ContactId;
use serde::Deserialize;
use utoipa::ToSchema;

use super::view::ContactDetailsView;
use crate::api::body::Body;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::Contacts;

/// The changes to make to a contact; an absent field stays. Its identity and origin never change.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct PatchContact {
    /// Locks the name, unless `nameLocked` is false.
    #[schema(value_type = String, required = false, min_length = 1, max_length = 200, pattern = r"\S", example = "Ana Smith")]
    name: Option<String>,
    /// Whether channels leave the name as it is. Without a lock, the name that an embed token of the web chat bears
    /// replaces it.
    #[schema(value_type = bool, required = false)]
    name_locked: Option<bool>,
}

/// Change a contact
#[utoipa::path(
    patch, path = "/contacts/{id}", tag = "contacts",
    params(("id" = ContactId, Path, description = "The contact")),
    request_body = PatchContact,
    responses((status = 200, description = "The contact", body = ContactDetailsView))
)]
pub(super) async fn patch_contact(
    can: Can<marks::Contacts, marks::Write>,
    State(contacts): State<Arc<Contacts>>,
    PathId(id): PathId<ContactId>,
    Body(body): Body<PatchContact>,
) -> Result<Reply<ContactDetailsView>, ApiError> {
    let reach = can.reach();
    let naming = ContactNaming { name: body.name, locked: body.name_locked };
    let details = if naming == ContactNaming::default() {
        contacts.get(reach, &id).await?
    } else {
        contacts.rename(&can.caller.author(), reach, &id, &naming).await?
    };
    Ok(Reply(details.into()))
}
