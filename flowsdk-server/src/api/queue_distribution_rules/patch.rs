//! `PATCH /queue-distribution-rules/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_helpdesk::rule::{DistributionRule, RuleChange, RuleId};

use crate::api::body::Body;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::DistributionRules;

/// Change a queue distribution rule
#[utoipa::path(
    patch, path = "/queue-distribution-rules/{id}", tag = "queue-distribution-rules",
    params(("id" = RuleId, Path, description = "The rule")),
    request_body = RuleChange,
    responses(
        (status = 200, description = "The rule", body = DistributionRule),
        (status = 422, description = "`queue_unknown`, `flow_unknown`"),
    )
)]
pub(super) async fn patch_queue_distribution_rule(
    can: Can<marks::Queues, marks::Write>,
    State(rules): State<Arc<DistributionRules>>,
    PathId(id): PathId<RuleId>,
    Body(change): Body<RuleChange>,
) -> Result<Reply<DistributionRule>, ApiError> {
    let (author, reach) = (can.caller.author(), can.reach());
    Ok(Reply(rules.change(&author, reach, &id, change).await?))
}
