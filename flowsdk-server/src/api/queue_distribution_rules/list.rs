//! `GET /queue-distribution-rules`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::page::PageRequest;
use flowsdk_helpdesk::rule::DistributionRule;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::query::{NameParams, Named, OfRouter, PageParams, PageView, Query, RouterParams};
use crate::api::reply::Reply;
use crate::api::state::DistributionRules;

/// List queue distribution rules
///
/// A caller who is confined to routers sees theirs only.
#[utoipa::path(
    get, path = "/queue-distribution-rules", tag = "queue-distribution-rules",
    params(PageParams, RouterParams, NameParams),
    responses((status = 200, description = "A page of rules", body = PageView<DistributionRule>))
)]
pub(super) async fn list_queue_distribution_rules(
    can: Can<marks::Queues, marks::Read>,
    State(rules): State<Arc<DistributionRules>>,
    Query((page, (OfRouter(router), Named(query)))): Query<(PageRequest, (OfRouter, Named))>,
) -> Result<Reply<PageView<DistributionRule>>, ApiError> {
    let router = can.admit(router)?;
    let page = rules.list(can.reach(), &router, query.as_ref(), &page).await?;
    Ok(Reply(PageView::of(page, |one| one)))
}
