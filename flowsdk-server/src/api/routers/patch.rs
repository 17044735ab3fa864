//! `PATCH /routers/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::admin::router::RouterChange;
use flowsdk_core::id::RouterId;
use flowsdk_core::router::RouterView;

use crate::api::body::Body;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::Routers;

/// Change a router
///
/// Counts with the next message.
#[utoipa::path(
    patch, path = "/routers/{id}", tag = "routers",
    params(("id" = RouterId, Path, description = "The router")),
    request_body = RouterChange,
    responses(
        (status = 200, description = "The router", body = RouterView),
        (status = 422, description = "`flow_unknown`: the initial flow is none of the router's; `flow_is_tool`"),
    )
)]
pub(super) async fn patch_router(
    can: Can<marks::Routers, marks::Write>,
    State(routers): State<Arc<Routers>>,
    PathId(id): PathId<RouterId>,
    Body(change): Body<RouterChange>,
) -> Result<Reply<RouterView>, ApiError> {
    let id = can.admit(id)?;
    Ok(Reply(routers.change(&can.caller.author(), &id, change).await?.into()))
}
