//! `/groups`. Reading asks for `users:read`. Writing is for administrators: a caller who may write a
//! group could grant themselves everything.

mod create;
mod delete;
mod get;
mod list;
mod patch;

use super::routes::{Routes, endpoint};

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .tag("groups", "Permissions of users, and the routers they hold for")
        .add(endpoint!(list::list_groups))
        .add(endpoint!(create::create_group))
        .add(endpoint!(get::get_group))
        .add(endpoint!(patch::patch_group))
        .add(endpoint!(delete::delete_group))
}

/// Where groups are.
const COLLECTION: &str = "/groups";
