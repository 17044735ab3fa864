//! `/llm-credentials` (spec A 2.2, 2.9).
//!
//! They belong to no router, so `settings` guards them.

mod create;
mod delete;
mod get;
mod list;
mod patch;

use super::routes::{Routes, endpoint};

/// Where credentials are.
const COLLECTION: &str = "/llm-credentials";

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .tag("llm-credentials", "Credentials of model providers, which routers name")
        .add(endpoint!(list::list_llm_credentials))
        .add(endpoint!(create::create_llm_credential))
        .add(endpoint!(get::get_llm_credential))
        .add(endpoint!(patch::patch_llm_credential))
        .add(endpoint!(delete::delete_llm_credential))
}
