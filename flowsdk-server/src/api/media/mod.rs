//! `/media`: files of conversations.

mod create;
mod delete;
mod get;
mod list;

use super::routes::{Routes, endpoint};

const COLLECTION: &str = "/media";

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .tag("media", "Files that contacts send, and files to send them")
        .add(endpoint!(list::list_media))
        .add(endpoint!(create::create_media))
        .add(endpoint!(get::get_media))
        .add(endpoint!(delete::delete_media))
        .list(crate::media::operation())
}
