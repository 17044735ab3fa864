//! `/contact-filters`: searches of the list of contacts, kept under a name. An addition to the contract.

mod create;
mod delete;
mod get;
mod list;
mod patch;

use super::routes::{Routes, endpoint};

/// Where saved filters are.
const COLLECTION: &str = "/contact-filters";

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .tag("contact-filters", "Searches of the list of contacts, kept under a name")
        .add(endpoint!(list::list_contact_filters))
        .add(endpoint!(create::create_contact_filter))
        .add(endpoint!(get::get_contact_filter))
        .add(endpoint!(patch::patch_contact_filter))
        .add(endpoint!(delete::delete_contact_filter))
}
