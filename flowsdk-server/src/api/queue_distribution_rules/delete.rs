//! `DELETE /queue-distribution-rules/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_helpdesk::rule::RuleId;
use http::StatusCode;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::state::DistributionRules;

/// Delete a queue distribution rule
#[utoipa::path(
    delete, path = "/queue-distribution-rules/{id}", tag = "queue-distribution-rules",
    params(("id" = RuleId, Path, description = "The rule")),
    responses((status = 204, description = "Deleted"))
)]
pub(super) async fn delete_queue_distribution_rule(
    can: Can<marks::Queues, marks::Write>,
    State(rules): State<Arc<DistributionRules>>,
    PathId(id): PathId<RuleId>,
) -> Result<StatusCode, ApiError> {
    rules.delete(&can.caller.author(), can.reach(), &id).await?;
    Ok(StatusCode::NO_CONTENT)
}
