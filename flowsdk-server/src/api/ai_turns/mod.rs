//! `/ai/turns`: what AI agents did.

mod get;
mod list;

use super::routes::{Routes, endpoint};

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .tag(
            "ai-turns",
            "The turns of AI agents: what models were told, what they answered, and what their calls did",
        )
        .add(endpoint!(list::list_ai_turns))
        .add(endpoint!(get::get_ai_turn))
}
