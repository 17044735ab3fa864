//! `GET /api-clients`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_auth::api_client::ApiClientView;
use flowsdk_core::page::PageRequest;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::query::{NameParams, Named, PageParams, PageView, Query};
use crate::api::reply::Reply;
use crate::api::state::ApiClients;

/// List API clients
#[utoipa::path(
    get, path = "/api-clients", tag = "api-clients",
    params(PageParams, NameParams),
    responses((status = 200, description = "A page of API clients", body = PageView<ApiClientView>))
)]
pub(super) async fn list_api_clients(
    _can: Can<marks::Settings, marks::Read>,
    State(api_clients): State<Arc<ApiClients>>,
    Query((page, Named(query))): Query<(PageRequest, Named)>,
) -> Result<Reply<PageView<ApiClientView>>, ApiError> {
    let page = api_clients.list(query.as_ref(), &page).await?;
    Ok(Reply(PageView::of(page, ApiClientView::from)))
}
