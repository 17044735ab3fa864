//! `/dead-letters`: entries of streams that failed for good. They hold texts of contacts of
//! every router, so only administrators see them.

mod delete;
mod get;
mod list;
mod retry;
mod view;

use view::DeadLetterView;

use super::routes::{Routes, endpoint};

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .tag("dead-letters", "Entries of streams that failed for good")
        .add(endpoint!(list::list_dead_letters))
        .add(endpoint!(get::get_dead_letter))
        .add(endpoint!(retry::retry_dead_letter))
        .add(endpoint!(delete::delete_dead_letter))
}
