//! `POST /contacts/{contactId}/merge`.

use std::sync::Arc;

use axum::extract::State;
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

/// The contact that becomes part of another.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct MergeContact {
    contact_id: ContactId,
}

/// Merge another contact into this one
///
/// Chats, sessions, aliases, opt-ins and webchat identities of `contactId` move here, and its identity becomes an alias.
/// Where both have an open chat with a router, the younger closes, unless a session is live in it. Two live sessions
/// with one router are a 409.
#[utoipa::path(
    post, path = "/contacts/{contactId}/merge", tag = "contacts",
    params(("contactId" = ContactId, Path, description = "The contact that stays")),
    request_body = MergeContact,
    responses(
        (status = 200, description = "The contact that stays", body = ContactDetailsView),
        (status = 409, description = "`merge_conflict`: both have a live session with one router"),
        (status = 422, description = "`contact_unknown` or `variables_too_large`"),
    )
)]
pub(super) async fn merge_contact(
    can: Can<marks::Contacts, marks::Write>,
    State(contacts): State<Arc<Contacts>>,
    PathId(id): PathId<ContactId>,
    Body(body): Body<MergeContact>,
) -> Result<Reply<ContactDetailsView>, ApiError> {
    Ok(Reply(contacts.merge(&can.caller.author(), can.reach(), &id, &body.contact_id).await?.into()))
}
