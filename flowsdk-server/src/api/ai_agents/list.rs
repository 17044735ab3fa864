//! `GET /ai-agents`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_agent::agent::{AgentType, AiAgent, AiAgentFilter};
use flowsdk_core::page::PageRequest;
use utoipa::IntoParams;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::query::{
    FromQuery, NameParams, Named, OfRouter, PageParams, PageView, Query, QueryReader, RouterParams,
};
use crate::api::reply::Reply;
use crate::api::state::AiAgents;

/// Which AI agents.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
#[allow(dead_code, reason = "the document is made of it")]
struct AiAgentParams {
    /// Those of this type.
    #[param(rename = "type", inline)]
    agent_type: Option<AgentType>,
    /// Those that are active, or those that are not.
    is_active: Option<bool>,
}

/// The AI agents that are wanted.
#[derive(Debug)]
pub(super) struct Wanted(AiAgentFilter);

impl FromQuery for Wanted {
    fn read(query: &mut QueryReader) -> Self {
        let OfRouter(router_id) = OfRouter::read(query);
        Self(AiAgentFilter {
            router_id,
            agent_type: query.one_of("type", &AgentType::ALL, AgentType::name),
            is_active: query.truth("isActive"),
        })
    }
}

/// List AI agents
///
/// A caller who is confined to routers sees theirs only.
#[utoipa::path(
    get, path = "/ai-agents", tag = "ai-agents",
    params(PageParams, RouterParams, AiAgentParams, NameParams),
    responses((status = 200, description = "A page of AI agents", body = PageView<AiAgent>))
)]
pub(super) async fn list_ai_agents(
    can: Can<marks::Flows, marks::Read>,
    State(agents): State<Arc<AiAgents>>,
    Query((page, (Wanted(filter), Named(query)))): Query<(PageRequest, (Wanted, Named))>,
) -> Result<Reply<PageView<AiAgent>>, ApiError> {
    let filter = can.admit(filter)?;
    let page = agents.list(can.reach(), &filter, query.as_ref(), &page).await?;
    Ok(Reply(PageView::of(page, |one| one)))
}
