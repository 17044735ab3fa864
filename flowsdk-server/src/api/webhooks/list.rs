//! `GET /webhooks`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::page::PageRequest;
use flowsdk_webhooks::webhook::WebhookView;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::query::{NameParams, Named, OfRouter, PageParams, PageView, Query, RouterParams};
use crate::api::reply::Reply;
use crate::api::state::Webhooks;

/// List webhooks
///
/// A caller who is confined to routers sees theirs only.
#[utoipa::path(
    get, path = "/webhooks", tag = "webhooks",
    params(PageParams, RouterParams, NameParams),
    responses((status = 200, description = "A page of webhooks", body = PageView<WebhookView>))
)]
pub(super) async fn list_webhooks(
    can: Can<marks::Routers, marks::Read>,
    State(webhooks): State<Arc<Webhooks>>,
    Query((page, (OfRouter(router), Named(query)))): Query<(PageRequest, (OfRouter, Named))>,
) -> Result<Reply<PageView<WebhookView>>, ApiError> {
    let router = can.admit(router)?;
    let page = webhooks.list(can.reach(), &router, query.as_ref(), &page).await?;
    Ok(Reply(PageView::of(page, WebhookView::from)))
}
