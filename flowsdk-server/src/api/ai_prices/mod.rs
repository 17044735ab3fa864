//! `/ai/prices`: what models cost.

mod create;
mod delete;
mod get;
mod list;
mod patch;

use super::routes::{Routes, endpoint};

/// Where prices are.
const COLLECTION: &str = "/ai/prices";

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .tag("ai-prices", "What models cost")
        .add(endpoint!(list::list_ai_prices))
        .add(endpoint!(create::create_ai_price))
        .add(endpoint!(get::get_ai_price))
        .add(endpoint!(patch::patch_ai_price))
        .add(endpoint!(delete::delete_ai_price))
}
