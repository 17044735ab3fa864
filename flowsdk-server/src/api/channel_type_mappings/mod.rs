//! `/channel-type-mappings`: the names that people and outside systems have for the channels of a router (spec A 2.2).

mod create;
mod delete;
mod get;
mod list;
mod patch;

use super::routes::{Routes, endpoint};

/// Where channel type mappings are.
const COLLECTION: &str = "/channel-type-mappings";

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .tag(
            "channel-type-mappings",
            "The names that people and outside systems have for the channels of a router",
        )
        .add(endpoint!(list::list_channel_type_mappings))
        .add(endpoint!(create::create_channel_type_mapping))
        .add(endpoint!(get::get_channel_type_mapping))
        .add(endpoint!(patch::patch_channel_type_mapping))
        .add(endpoint!(delete::delete_channel_type_mapping))
}
