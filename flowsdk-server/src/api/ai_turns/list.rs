//! `GET /ai/turns`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_agent::ledger::{AgentTurnFilter, AgentTurnSummary};
use flowsdk_core::id::{AgentId, ChatId};
use flowsdk_core::page::PageRequest;
use flowsdk_core::session::SessionId;
use flowsdk_core::text::Text;
use utoipa::IntoParams;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::query::{FromQuery, OfRouter, PageParams, PageView, Query, QueryReader, RouterParams};
use crate::api::reply::Reply;
use crate::api::state::AgentTurns;

/// Which turns.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
#[allow(dead_code, reason = "the document is made of it")]
struct TurnParams {
    /// Those of this AI agent.
    agent_id: Option<AgentId>,
    /// Those of this chat.
    chat_id: Option<ChatId>,
    /// Those of this session.
    session_id: Option<SessionId>,
    /// Those that have an error, or those that have none.
    failed: Option<bool>,
    /// Those that go on, or those that have ended.
    is_running: Option<bool>,
}

impl FromQuery for AgentTurnFilter {
    fn read(query: &mut QueryReader) -> Self {
        let OfRouter(router_id) = OfRouter::read(query);
        let not_an_id = Text::new("Id inválido", "Invalid id");
        Self {
            router_id,
            agent_id: query.id("agentId", AgentId::parse),
            chat_id: query.id("chatId", ChatId::parse),
            session_id: query.parsed("sessionId", |text| SessionId::parse(text).ok(), not_an_id),
            has_failed: query.truth("failed"),
            is_running: query.truth("isRunning"),
        }
    }
}

/// List turns of AI agents
///
/// Newest first, without what was said in them. A caller who is confined to routers sees theirs only. Turns are kept for
/// 30 days.
#[utoipa::path(
    get, path = "/ai/turns", tag = "ai-turns",
    params(PageParams, RouterParams, TurnParams),
    responses((status = 200, description = "A page of turns", body = PageView<AgentTurnSummary>))
)]
pub(super) async fn list_ai_turns(
    can: Can<marks::Sessions, marks::Read>,
    State(turns): State<Arc<AgentTurns>>,
    Query((page, filter)): Query<(PageRequest, AgentTurnFilter)>,
) -> Result<Reply<PageView<AgentTurnSummary>>, ApiError> {
    let filter = can.admit(filter)?;
    let page = turns.list(can.reach(), &filter, &page).await?;
    Ok(Reply(PageView::of(page, |turn| turn)))
}
