//! `GET /ai-agent-routes`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_agent::route::AgentRoute;
use flowsdk_core::page::PageRequest;

use crate::api::ai_agents::parts::{AgentPartParams, OfAgent};
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::query::{NameParams, Named, PageParams, PageView, Query, RouterParams};
use crate::api::reply::Reply;
use crate::api::state::AgentRoutes;

/// List routes between agents
///
/// A caller who is confined to routers sees theirs only.
#[utoipa::path(
    get, path = "/ai-agent-routes", tag = "ai-agent-routes",
    params(PageParams, RouterParams, AgentPartParams, NameParams),
    responses((status = 200, description = "A page of routes between agents", body = PageView<AgentRoute>))
)]
pub(super) async fn list_ai_agent_routes(
    can: Can<marks::Flows, marks::Read>,
    State(routes): State<Arc<AgentRoutes>>,
    Query((page, (OfAgent(filter), Named(query)))): Query<(PageRequest, (OfAgent, Named))>,
) -> Result<Reply<PageView<AgentRoute>>, ApiError> {
    let filter = can.admit(filter)?;
    let page = routes.list(can.reach(), &filter, query.as_ref(), &page).await?;
    Ok(Reply(PageView::of(page, |one| one)))
}
