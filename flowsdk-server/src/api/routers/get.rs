//! `GET /routers/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::RouterId;
use flowsdk_core::router::RouterView;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::Routers;

/// Show a router
#[utoipa::path(
    get, path = "/routers/{id}", tag = "routers",
    params(("id" = RouterId, Path, description = "The router")),
    responses((status = 200, description = "The router", body = RouterView))
)]
pub(super) async fn get_router(
    can: Can<marks::Routers, marks::Read>,
    State(routers): State<Arc<Routers>>,
    PathId(id): PathId<RouterId>,
) -> Result<Reply<RouterView>, ApiError> {
    let id = can.admit(id)?;
    let router = routers.get(&id).await?;
    Ok(Reply(RouterView::from(&*router)))
}
