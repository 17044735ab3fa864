//! `/ai-agents`: AI agents.

mod configuration;
mod create;
mod delete;
mod get;
mod list;
pub(super) mod parts;
mod patch;

use super::routes::{Routes, endpoint};

/// Where AI agents are.
const COLLECTION: &str = "/ai-agents";

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .tag("ai-agents", "AI agents, which have a conversation where language is needed")
        .add(endpoint!(list::list_ai_agents))
        .add(endpoint!(create::create_ai_agent))
        .add(endpoint!(get::get_ai_agent))
        .add(endpoint!(patch::patch_ai_agent))
        .add(endpoint!(configuration::get_ai_agent_configuration))
        .add(endpoint!(delete::delete_ai_agent))
}
