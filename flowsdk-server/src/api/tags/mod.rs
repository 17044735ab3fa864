//! `/tags`: tags, by which people sort tickets (spec B 2.3).

mod create;
mod delete;
mod get;
mod list;
mod patch;

use super::routes::{Routes, endpoint};

/// Where tags are.
const COLLECTION: &str = "/tags";

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .tag("tags", "Tags, by which people sort tickets")
        .add(endpoint!(list::list_tags))
        .add(endpoint!(create::create_tag))
        .add(endpoint!(get::get_tag))
        .add(endpoint!(patch::patch_tag))
        .add(endpoint!(delete::delete_tag))
}
