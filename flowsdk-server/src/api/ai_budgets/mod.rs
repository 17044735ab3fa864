//! `/ai/budgets`: what the models of routers may cost in a month.

mod create;
mod delete;
mod get;
mod list;
mod patch;

use super::routes::{Routes, endpoint};

/// Where budgets are.
const COLLECTION: &str = "/ai/budgets";

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .tag("ai-budgets", "What the models of routers may cost in a month")
        .add(endpoint!(list::list_ai_budgets))
        .add(endpoint!(create::create_ai_budget))
        .add(endpoint!(get::get_ai_budget))
        .add(endpoint!(patch::patch_ai_budget))
        .add(endpoint!(delete::delete_ai_budget))
}
