//! `GET /system-prompts`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_agent::prompt::SystemPrompt;
use flowsdk_core::page::PageRequest;

use crate::api::ai_agents::parts::{AgentPartParams, OfAgent};
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::query::{NameParams, Named, PageParams, PageView, Query, RouterParams};
use crate::api::reply::Reply;
use crate::api::state::SystemPrompts;

/// List system prompts
///
/// A caller who is confined to routers sees theirs only.
#[utoipa::path(
    get, path = "/system-prompts", tag = "system-prompts",
    params(PageParams, RouterParams, AgentPartParams, NameParams),
    responses((status = 200, description = "A page of system prompts", body = PageView<SystemPrompt>))
)]
pub(super) async fn list_system_prompts(
    can: Can<marks::Flows, marks::Read>,
    State(prompts): State<Arc<SystemPrompts>>,
    Query((page, (OfAgent(filter), Named(query)))): Query<(PageRequest, (OfAgent, Named))>,
) -> Result<Reply<PageView<SystemPrompt>>, ApiError> {
    let filter = can.admit(filter)?;
    let page = prompts.list(can.reach(), &filter, query.as_ref(), &page).await?;
    Ok(Reply(PageView::of(page, |one| one)))
}
