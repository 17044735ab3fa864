//! `/user-devices`: the caller's own. Another's is not found.

mod create;
mod delete;
mod get;
mod list;
mod patch;

use super::routes::{Routes, endpoint};

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .tag("user-devices", "The caller's devices for push notifications")
        .add(endpoint!(list::list_user_devices))
        .add(endpoint!(create::create_user_device))
        .add(endpoint!(get::get_user_device))
        .add(endpoint!(patch::patch_user_device))
        .add(endpoint!(delete::delete_user_device))
}

/// Where devices are.
const COLLECTION: &str = "/user-devices";
