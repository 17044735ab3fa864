//! `/import-drafts`: uploads that are checked, shown as a plan and applied once (spec A 2.2). As imports do, they ask for
//! the permissions of routers and of flows.

mod apply;
mod create;
mod delete;
mod file;
mod get;
mod list;
mod view;

use super::routes::{Routes, endpoint};

/// Where import drafts are.
const COLLECTION: &str = "/import-drafts";

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .tag("import-drafts", "Files that are checked before they are imported into a router")
        .add(endpoint!(list::list_import_drafts))
        .add(endpoint!(create::create_import_draft))
        .add(endpoint!(get::get_import_draft))
        .add(endpoint!(file::get_import_draft_file))
        .add(endpoint!(apply::apply_import_draft))
        .add(endpoint!(delete::delete_import_draft))
}
