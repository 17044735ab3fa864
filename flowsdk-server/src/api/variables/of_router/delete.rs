//! `DELETE /routers/{id}/variables/{varId}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::{RouterId, VariableId};
use flowsdk_core::router::VariableOwner;
use http::StatusCode;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathIds;
use crate::api::state::Variables;

/// Delete a variable of a router
///
/// Turns do not have it from the next message on.
#[utoipa::path(
    delete, path = "/routers/{id}/variables/{varId}", tag = "variables",
    params(("id" = RouterId, Path, description = "The router"), ("varId" = VariableId, Path, description = "The variable")),
    responses((status = 204, description = "Deleted"))
)]
pub(in crate::api::variables) async fn delete_router_variable(
    can: Can<marks::Routers, marks::Write>,
    State(variables): State<Arc<Variables>>,
    PathIds(id, variable): PathIds<RouterId, VariableId>,
) -> Result<StatusCode, ApiError> {
    let (author, reach) = (can.caller.author(), can.reach());
    let owner = can.admit(VariableOwner::Router(id))?;
    variables.delete(&author, &owner, reach, &variable).await?;
    Ok(StatusCode::NO_CONTENT)
}
