//! `/close-reasons`: the reasons of which people choose one when they close a ticket.

mod create;
mod delete;
mod get;
mod list;
mod patch;

use super::routes::{Routes, endpoint};

/// Where close reasons are.
const COLLECTION: &str = "/close-reasons";

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .tag("close-reasons", "The reasons of which people choose one when they close a ticket")
        .add(endpoint!(list::list_close_reasons))
        .add(endpoint!(create::create_close_reason))
        .add(endpoint!(get::get_close_reason))
        .add(endpoint!(patch::patch_close_reason))
        .add(endpoint!(delete::delete_close_reason))
}
