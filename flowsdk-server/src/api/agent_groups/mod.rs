//! `/agent-groups`: groups of agents (spec B 2.4).

mod create;
mod delete;
mod get;
mod list;
mod patch;

use super::routes::{Routes, endpoint};

/// Where groups of agents are.
const COLLECTION: &str = "/agent-groups";

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .tag("agent-groups", "Groups of agents: what a group may, its agents may")
        .add(endpoint!(list::list_agent_groups))
        .add(endpoint!(create::create_agent_group))
        .add(endpoint!(get::get_agent_group))
        .add(endpoint!(patch::patch_agent_group))
        .add(endpoint!(delete::delete_agent_group))
}
