//! `GET /contacts/{contactId}/opt-ins`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::ContactId;
use flowsdk_core::page::PageRequest;

use super::OptInView;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::query::{PageParams, PageView, Query};
use crate::api::reply::Reply;
use crate::api::state::OptIns;

/// List the opt-in records of a contact
///
/// Only of the routers that the caller is confined to, if they are.
#[utoipa::path(
    get, path = "/contacts/{contactId}/opt-ins", tag = "contacts",
    params(("contactId" = ContactId, Path, description = "The contact"), PageParams),
    responses((status = 200, description = "A page of records", body = PageView<OptInView>))
)]
pub(super) async fn list_contact_opt_ins(
    can: Can<marks::Contacts, marks::Read>,
    State(opt_ins): State<Arc<OptIns>>,
    PathId(id): PathId<ContactId>,
    Query(page): Query<PageRequest>,
) -> Result<Reply<PageView<OptInView>>, ApiError> {
    let page = opt_ins.history(can.reach(), &id, &page).await?;
    Ok(Reply(PageView::of(page, OptInView::from)))
}
