//! `GET /flows/{id}/variables/{varId}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::{FlowId, VariableId};
use flowsdk_core::router::VariableOwner;
use flowsdk_core::variable::VariableView;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathIds;
use crate::api::reply::Reply;
use crate::api::state::Variables;

/// Show a variable of a flow
#[utoipa::path(
    get, path = "/flows/{id}/variables/{varId}", tag = "variables",
    params(("id" = FlowId, Path, description = "The flow"), ("varId" = VariableId, Path, description = "The variable")),
    responses((status = 200, description = "The variable", body = VariableView))
)]
pub(in crate::api::variables) async fn get_flow_variable(
    can: Can<marks::Flows, marks::Read>,
    State(variables): State<Arc<Variables>>,
    PathIds(id, variable): PathIds<FlowId, VariableId>,
) -> Result<Reply<VariableView>, ApiError> {
    let owner = can.admit(VariableOwner::Flow(id))?;
    Ok(Reply(VariableView::from(variables.get(&owner, can.reach(), &variable).await?)))
}
