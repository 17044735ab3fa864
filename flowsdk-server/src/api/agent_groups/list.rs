//! `GET /agent-groups`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::page::PageRequest;
use flowsdk_helpdesk::agent_group::AgentGroup;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::query::{NameParams, Named, OfRouter, PageParams, PageView, Query, RouterParams};
use crate::api::reply::Reply;
use crate::api::state::AgentGroups;

/// List agent groups
///
/// A caller who is confined to routers sees theirs only.
#[utoipa::path(
    get, path = "/agent-groups", tag = "agent-groups",
    params(PageParams, RouterParams, NameParams),
    responses((status = 200, description = "A page of groups", body = PageView<AgentGroup>))
)]
pub(super) async fn list_agent_groups(
    can: Can<marks::Queues, marks::Read>,
    State(groups): State<Arc<AgentGroups>>,
    Query((page, (OfRouter(router), Named(query)))): Query<(PageRequest, (OfRouter, Named))>,
) -> Result<Reply<PageView<AgentGroup>>, ApiError> {
    let router = can.admit(router)?;
    let page = groups.list(can.reach(), &router, query.as_ref(), &page).await?;
    Ok(Reply(PageView::of(page, |one| one)))
}
