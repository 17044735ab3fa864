//! `PUT /routers/{id}/variables/{varId}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::{RouterId, VariableId};
use flowsdk_core::router::VariableOwner;
use flowsdk_core::variable::{VariableChange, VariableView};

use crate::api::body::Body;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathIds;
use crate::api::reply::Reply;
use crate::api::state::Variables;

/// Give a variable of a router another value
///
/// Turns have it from the next message on.
#[utoipa::path(
    put, path = "/routers/{id}/variables/{varId}", tag = "variables",
    params(("id" = RouterId, Path, description = "The router"), ("varId" = VariableId, Path, description = "The variable")),
    request_body = VariableChange,
    responses((status = 200, description = "The variable", body = VariableView))
)]
pub(in crate::api::variables) async fn put_router_variable(
    can: Can<marks::Routers, marks::Write>,
    State(variables): State<Arc<Variables>>,
    PathIds(id, variable): PathIds<RouterId, VariableId>,
    Body(change): Body<VariableChange>,
) -> Result<Reply<VariableView>, ApiError> {
    let (author, reach) = (can.caller.author(), can.reach());
    let owner = can.admit(VariableOwner::Router(id))?;
    let changed = variables.put(&author, &owner, reach, &variable, change).await?;
    Ok(Reply(VariableView::from(changed)))
}
