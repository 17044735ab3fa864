//! `/ai-agent-routes`: to which agents an AI agent may hand its conversations.

mod create;
mod delete;
mod get;
mod list;
mod patch;

use super::routes::{Routes, endpoint};

/// Where routes between agents are.
const COLLECTION: &str = "/ai-agent-routes";

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .tag("ai-agent-routes", "To which agents an AI agent may hand its conversations")
        .add(endpoint!(list::list_ai_agent_routes))
        .add(endpoint!(create::create_ai_agent_route))
        .add(endpoint!(get::get_ai_agent_route))
        .add(endpoint!(patch::patch_ai_agent_route))
        .add(endpoint!(delete::delete_ai_agent_route))
}
