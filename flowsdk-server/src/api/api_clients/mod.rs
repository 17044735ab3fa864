//! `/api-clients`. Reading asks for `settings:read`. Writing is for administrators: a client may be granted anything.

mod create;
mod delete;
mod get;
mod list;
mod patch;
mod rotate;
mod view;

use view::ApiClientWithToken;

use super::routes::{Routes, endpoint};

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .tag("api-clients", "Machines that administer")
        .add(endpoint!(list::list_api_clients))
        .add(endpoint!(create::create_api_client))
        .add(endpoint!(get::get_api_client))
        .add(endpoint!(patch::patch_api_client))
        .add(endpoint!(delete::delete_api_client))
        .add(endpoint!(rotate::rotate_api_client))
}

/// Where API clients are.
const COLLECTION: &str = "/api-clients";
