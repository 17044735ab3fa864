//! `DELETE /routers/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::RouterId;
use http::StatusCode;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::query::{Force, ForceParams, Query};
use crate::api::state::Routers;

/// Delete a router
///
/// With its flows, variables and channels. Its chats stay, closed and without a router.
#[utoipa::path(
    delete, path = "/routers/{id}", tag = "routers",
    params(("id" = RouterId, Path, description = "The router"), ForceParams),
    responses(
        (status = 204, description = "Deleted"),
        (status = 409, description = "`in_use`: `details` names the objects that depend on it"),
    )
)]
pub(super) async fn delete_router(
    can: Can<marks::Routers, marks::Write>,
    State(routers): State<Arc<Routers>>,
    PathId(id): PathId<RouterId>,
    Query(force): Query<Force>,
) -> Result<StatusCode, ApiError> {
    let id = can.admit(id)?;
    routers.delete(&can.caller.author(), &id, force.of(&can.caller)?).await?;
    Ok(StatusCode::NO_CONTENT)
}
