//! `GET /contacts/{contactId}/aliases`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::ContactId;

use crate::api::contacts::view::AliasView;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::query::PageView;
use crate::api::reply::Reply;
use crate::api::state::Contacts;

/// List the other identities of a contact
///
/// All of them on one page, oldest first.
#[utoipa::path(
    get, path = "/contacts/{contactId}/aliases", tag = "contacts",
    params(("contactId" = ContactId, Path, description = "The contact")),
    responses((status = 200, description = "The aliases", body = PageView<AliasView>))
)]
pub(in crate::api::contacts) async fn list_contact_aliases(
    can: Can<marks::Contacts, marks::Read>,
    State(contacts): State<Arc<Contacts>>,
    PathId(id): PathId<ContactId>,
) -> Result<Reply<PageView<AliasView>>, ApiError> {
    let details = contacts.get(can.reach(), &id).await?;
    let items = details.aliases.into_iter().map(AliasView::from).collect();
    Ok(Reply(PageView { items, next_cursor: None }))
}
