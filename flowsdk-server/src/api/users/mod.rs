//! `/users` (spec A 4.2). Reading asks for `users:read`; writing is for administrators (spec A 5.3).

mod create;
mod delete;
mod get;
mod list;
mod patch;
mod put;

use super::routes::{Routes, endpoint};

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .tag("users", "People who administer")
        .add(endpoint!(list::list_users))
        .add(endpoint!(create::create_user))
        .add(endpoint!(get::get_user))
        .add(endpoint!(put::put_user))
        .add(endpoint!(patch::patch_user))
        .add(endpoint!(delete::delete_user))
}

/// Where users are.
const COLLECTION: &str = "/users";
