//! `/integrations` (spec A 2.9, 4.7).
//!
//! An integration is a part of its router, so `routers` guards it.

mod create;
mod delete;
mod fetch_content;
mod get;
mod list;
mod patch;

use super::routes::{Routes, endpoint};

/// Where integrations are.
const COLLECTION: &str = "/integrations";

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .tag("integrations", "Servers of others that a router works with")
        .add(endpoint!(list::list_integrations))
        .add(endpoint!(create::create_integration))
        .add(endpoint!(get::get_integration))
        .add(endpoint!(patch::patch_integration))
        .add(endpoint!(delete::delete_integration))
        .add(endpoint!(fetch_content::fetch_integration_content))
}
