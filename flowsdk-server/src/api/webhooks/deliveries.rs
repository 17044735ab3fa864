//! `GET /webhooks/{id}/deliveries`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::page::PageRequest;
use flowsdk_webhooks::delivery::{DeliveryFilter, DeliveryStatus, DeliveryView};
use flowsdk_webhooks::webhook::WebhookId;
use utoipa::IntoParams;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::query::{FromQuery, PageParams, PageView, Query, QueryReader};
use crate::api::reply::Reply;
use crate::api::state::Webhooks;

/// Which deliveries.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
#[allow(dead_code, reason = "the document is made of it")]
struct DeliveryParams {
    /// Those in this state.
    status: Option<DeliveryStatus>,
}

/// Which deliveries are wanted.
#[derive(Debug)]
pub(super) struct Wanted(DeliveryFilter);

impl FromQuery for Wanted {
    fn read(query: &mut QueryReader) -> Self {
        Self(DeliveryFilter { status: query.one_of("status", &DeliveryStatus::ALL, DeliveryStatus::name) })
    }
}

/// List the deliveries of a webhook
///
/// Newest first. They are kept for seven days.
#[utoipa::path(
    get, path = "/webhooks/{id}/deliveries", tag = "webhooks",
    params(("id" = WebhookId, Path, description = "The webhook"), PageParams, DeliveryParams),
    responses((status = 200, description = "A page of deliveries", body = PageView<DeliveryView>))
)]
pub(super) async fn list_webhook_deliveries(
    can: Can<marks::Routers, marks::Read>,
    State(webhooks): State<Arc<Webhooks>>,
    PathId(id): PathId<WebhookId>,
    Query((page, Wanted(filter))): Query<(PageRequest, Wanted)>,
) -> Result<Reply<PageView<DeliveryView>>, ApiError> {
    let page = webhooks.deliveries(can.reach(), &id, filter, &page).await?;
    Ok(Reply(PageView::of(page, DeliveryView::from)))
}
