//! `/queue-distribution-rules`: the queue to which a handoff goes, by its variables (spec B 2.4, 4.7).

mod create;
mod delete;
mod get;
mod list;
mod patch;

use super::routes::{Routes, endpoint};

/// Where distribution rules are.
const COLLECTION: &str = "/queue-distribution-rules";

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .tag("queue-distribution-rules", "The queue to which a handoff goes, by its variables")
        .add(endpoint!(list::list_queue_distribution_rules))
        .add(endpoint!(create::create_queue_distribution_rule))
        .add(endpoint!(get::get_queue_distribution_rule))
        .add(endpoint!(patch::patch_queue_distribution_rule))
        .add(endpoint!(delete::delete_queue_distribution_rule))
}
