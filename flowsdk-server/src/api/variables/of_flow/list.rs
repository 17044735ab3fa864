//! `GET /flows/{id}/variables`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::FlowId;
use flowsdk_core::page::PageRequest;
use flowsdk_core::router::VariableOwner;
use flowsdk_core::variable::VariableView;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::query::{NameParams, Named, PageParams, PageView, Query};
use crate::api::reply::Reply;
use crate::api::state::Variables;

/// List the variables of a flow
#[utoipa::path(
    get, path = "/flows/{id}/variables", tag = "variables",
    params(("id" = FlowId, Path, description = "The flow"), PageParams, NameParams),
    responses((status = 200, description = "A page of variables", body = PageView<VariableView>))
)]
pub(in crate::api::variables) async fn list_flow_variables(
    can: Can<marks::Flows, marks::Read>,
    State(variables): State<Arc<Variables>>,
    PathId(id): PathId<FlowId>,
    Query((page, Named(query))): Query<(PageRequest, Named)>,
) -> Result<Reply<PageView<VariableView>>, ApiError> {
    let owner = can.admit(VariableOwner::Flow(id))?;
    let page = variables.list(&owner, can.reach(), query.as_ref(), &page).await?;
    Ok(Reply(PageView::of(page, VariableView::from)))
}
