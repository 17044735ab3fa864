//! `GET /guardrails`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_agent::guardrail::Guardrail;
use flowsdk_core::page::PageRequest;

use crate::api::ai_agents::parts::{AgentPartParams, OfAgent};
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::query::{NameParams, Named, PageParams, PageView, Query, RouterParams};
use crate::api::reply::Reply;
use crate::api::state::Guardrails;

/// List guardrails
///
/// A caller who is confined to routers sees theirs only.
#[utoipa::path(
    get, path = "/guardrails", tag = "guardrails",
    params(PageParams, RouterParams, AgentPartParams, NameParams),
    responses((status = 200, description = "A page of guardrails", body = PageView<Guardrail>))
)]
pub(super) async fn list_guardrails(
    can: Can<marks::Flows, marks::Read>,
    State(guardrails): State<Arc<Guardrails>>,
    Query((page, (OfAgent(filter), Named(query)))): Query<(PageRequest, (OfAgent, Named))>,
) -> Result<Reply<PageView<Guardrail>>, ApiError> {
    let filter = can.admit(filter)?;
    let page = guardrails.list(can.reach(), &filter, query.as_ref(), &page).await?;
    Ok(Reply(PageView::of(page, |one| one)))
}
