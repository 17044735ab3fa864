//! `/quick-replies`: texts that agents send often (spec B 4.7).

mod create;
mod delete;
mod get;
mod list;
mod patch;

use super::routes::{Routes, endpoint};

/// Where quick replies are.
const COLLECTION: &str = "/quick-replies";

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .tag("quick-replies", "Texts that agents send often")
        .add(endpoint!(list::list_quick_replies))
        .add(endpoint!(create::create_quick_reply))
        .add(endpoint!(get::get_quick_reply))
        .add(endpoint!(patch::patch_quick_reply))
        .add(endpoint!(delete::delete_quick_reply))
}
