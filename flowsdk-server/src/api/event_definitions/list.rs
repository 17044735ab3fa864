//! `GET /event-definitions`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::event_definition::EventDefinitionView;
use flowsdk_core::page::PageRequest;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::query::{NameParams, Named, OfRouter, PageParams, PageView, Query, RouterParams};
use crate::api::reply::Reply;
use crate::api::state::EventDefinitions;

/// List event definitions
///
/// A caller who is confined to routers sees theirs only.
#[utoipa::path(
    get, path = "/event-definitions", tag = "event-definitions",
    params(PageParams, RouterParams, NameParams),
    responses((status = 200, description = "A page of definitions", body = PageView<EventDefinitionView>))
)]
pub(super) async fn list_event_definitions(
    can: Can<marks::Flows, marks::Read>,
    State(definitions): State<Arc<EventDefinitions>>,
    Query((page, (OfRouter(router), Named(query)))): Query<(PageRequest, (OfRouter, Named))>,
) -> Result<Reply<PageView<EventDefinitionView>>, ApiError> {
    let router = can.admit(router)?;
    let page = definitions.list(can.reach(), &router, query.as_ref(), &page).await?;
    Ok(Reply(PageView::of(page, EventDefinitionView::from)))
}
