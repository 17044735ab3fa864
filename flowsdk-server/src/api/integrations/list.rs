//! `GET /integrations`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::integration::IntegrationView;
use flowsdk_core::page::PageRequest;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::query::{NameParams, Named, OfRouter, PageParams, PageView, Query, RouterParams};
use crate::api::reply::Reply;
use crate::api::state::Integrations;

/// List integrations
///
/// A caller who is confined to routers sees theirs only.
#[utoipa::path(
    get, path = "/integrations", tag = "integrations",
    params(PageParams, RouterParams, NameParams),
    responses((status = 200, description = "A page of integrations", body = PageView<IntegrationView>))
)]
pub(super) async fn list_integrations(
    can: Can<marks::Routers, marks::Read>,
    State(integrations): State<Arc<Integrations>>,
    Query((page, (OfRouter(router), Named(query)))): Query<(PageRequest, (OfRouter, Named))>,
) -> Result<Reply<PageView<IntegrationView>>, ApiError> {
    let router = router.map(|router| can.admit(router)).transpose()?;
    let page = integrations.list(can.reach(), router.as_ref(), query.as_ref(), &page).await?;
    Ok(Reply(PageView::of(page, IntegrationView::from)))
}
