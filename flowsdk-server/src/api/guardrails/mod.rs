//! `/guardrails`: what AI agents must not do.

mod create;
mod delete;
mod get;
mod list;
mod patch;

use super::routes::{Routes, endpoint};

/// Where guardrails are.
const COLLECTION: &str = "/guardrails";

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .tag("guardrails", "What AI agents must not do")
        .add(endpoint!(list::list_guardrails))
        .add(endpoint!(create::create_guardrail))
        .add(endpoint!(get::get_guardrail))
        .add(endpoint!(patch::patch_guardrail))
        .add(endpoint!(delete::delete_guardrail))
}
