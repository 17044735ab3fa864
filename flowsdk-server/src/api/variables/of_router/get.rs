//! `GET /routers/{id}/variables/{varId}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::{RouterId, VariableId};
use flowsdk_core::router::VariableOwner;
use flowsdk_core::variable::VariableView;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathIds;
use crate::api::reply::Reply;
use crate::api::state::Variables;

/// Show a variable of a router
#[utoipa::path(
    get, path = "/routers/{id}/variables/{varId}", tag = "variables",
    params(("id" = RouterId, Path, description = "The router"), ("varId" = VariableId, Path, description = "The variable")),
    responses((status = 200, description = "The variable", body = VariableView))
)]
pub(in crate::api::variables) async fn get_router_variable(
    can: Can<marks::Routers, marks::Read>,
    State(variables): State<Arc<Variables>>,
    PathIds(id, variable): PathIds<RouterId, VariableId>,
) -> Result<Reply<VariableView>, ApiError> {
    let owner = can.admit(VariableOwner::Router(id))?;
    Ok(Reply(VariableView::from(variables.get(&owner, can.reach(), &variable).await?)))
}
