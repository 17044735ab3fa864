//! `GET /agents`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::page::{Page, PageRequest};
use flowsdk_helpdesk::agent::DeskAgentView;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::query::{OfRouter, PageParams, PageView, Query, RouterParams};
use crate::api::reply::Reply;
use crate::api::state::{DeskAgents, Presence};

/// List agents
///
/// With their presence. A caller who is confined to routers sees theirs only.
#[utoipa::path(
    get, path = "/agents", tag = "agents",
    params(PageParams, RouterParams),
    responses((status = 200, description = "A page of agents", body = PageView<DeskAgentView>))
)]
pub(super) async fn list_agents(
    can: Can<marks::Queues, marks::Read>,
    State(agents): State<Arc<DeskAgents>>,
    State(presence): State<Arc<Presence>>,
    Query((page, OfRouter(router))): Query<(PageRequest, OfRouter)>,
) -> Result<Reply<PageView<DeskAgentView>>, ApiError> {
    let router = can.admit(router)?;
    let Page { items, next } = agents.list(can.reach(), &router, None, &page).await?;
    let page = Page { items: presence.of(items).await?, next };
    Ok(Reply(PageView::of(page, |agent| agent)))
}
