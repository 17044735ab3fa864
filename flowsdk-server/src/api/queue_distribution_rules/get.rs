//! `GET /queue-distribution-rules/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_helpdesk::rule::{DistributionRule, RuleId};

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::DistributionRules;

/// Show a queue distribution rule
#[utoipa::path(
    get, path = "/queue-distribution-rules/{id}", tag = "queue-distribution-rules",
    params(("id" = RuleId, Path, description = "The rule")),
    responses((status = 200, description = "The rule", body = DistributionRule))
)]
pub(super) async fn get_queue_distribution_rule(
    can: Can<marks::Queues, marks::Read>,
    State(rules): State<Arc<DistributionRules>>,
    PathId(id): PathId<RuleId>,
) -> Result<Reply<DistributionRule>, ApiError> {
    Ok(Reply(rules.get(can.reach(), &id).await?))
}
