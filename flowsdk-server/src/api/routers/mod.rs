//! `/routers` (spec A 4.3).

mod create;
mod delete;
mod get;
mod list;
mod patch;

use super::routes::{Routes, endpoint};

/// Where routers are.
const COLLECTION: &str = "/routers";

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .tag("routers", "The root of flows, channels and conversations")
        .add(endpoint!(list::list_routers))
        .add(endpoint!(create::create_router))
        .add(endpoint!(get::get_router))
        .add(endpoint!(patch::patch_router))
        .add(endpoint!(delete::delete_router))
}
