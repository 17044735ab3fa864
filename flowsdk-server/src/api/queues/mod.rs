//! `/queues`: the queues of the helpdesk, and the agents who work in them (spec B 2.4).

mod add_agent;
mod create;
mod delete;
mod get;
mod list;
mod list_agents;
mod patch;
mod remove_agent;

use super::routes::{Routes, endpoint};

/// Where queues are.
const COLLECTION: &str = "/queues";

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .tag("queues", "The queues of the helpdesk, and the agents who work in them")
        .add(endpoint!(list::list_queues))
        .add(endpoint!(create::create_queue))
        .add(endpoint!(get::get_queue))
        .add(endpoint!(patch::patch_queue))
        .add(endpoint!(delete::delete_queue))
        .add(endpoint!(list_agents::list_queue_agents))
        .add(endpoint!(add_agent::add_queue_agent))
        .add(endpoint!(remove_agent::remove_queue_agent))
}
