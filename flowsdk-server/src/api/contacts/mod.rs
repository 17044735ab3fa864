//! `/contacts` (spec A 2.4, 4.6).

mod aliases;
mod create;
mod delete;
mod get;
mod insights;
mod list;
mod merge;
mod patch;
mod remove_variable;
mod variables;
mod view;

pub(in crate::api) use view::ContactView;

use super::routes::{Routes, endpoint};

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .tag("contacts", "The people who write, and whether they may be written to")
        .add(endpoint!(list::list_contacts))
        .add(endpoint!(create::create_contact))
        .add(endpoint!(get::get_contact))
        .add(endpoint!(patch::patch_contact))
        .add(endpoint!(delete::delete_contact))
        .add(endpoint!(variables::patch_contact_variables))
        .add(endpoint!(remove_variable::delete_contact_variable))
        .add(endpoint!(aliases::list::list_contact_aliases))
        .add(endpoint!(aliases::create::create_contact_alias))
        .add(endpoint!(aliases::delete::delete_contact_alias))
        .add(endpoint!(merge::merge_contact))
        .add(endpoint!(insights::get_contact_insights))
}

/// Where contacts are.
const COLLECTION: &str = "/contacts";
