//! `/channel-numbers` (spec A 2.9, 4.7).

mod create;
mod delete;
mod encryption;
mod generate_keys;
mod get;
mod health;
mod list;
mod patch;
mod private_key;
mod register_key;

use super::routes::{Routes, endpoint};

/// Where numbers are.
const COLLECTION: &str = "/channel-numbers";

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .tag("channel-numbers", "Numbers of the phone channel, and the keys of their interactive forms")
        .add(endpoint!(list::list_channel_numbers))
        .add(endpoint!(create::create_channel_number))
        .add(endpoint!(get::get_channel_number))
        .add(endpoint!(health::get_channel_number_health))
        .add(endpoint!(patch::patch_channel_number))
        .add(endpoint!(delete::delete_channel_number))
        .add(endpoint!(generate_keys::generate_encryption_keys))
        .add(endpoint!(register_key::register_encryption_key))
        .add(endpoint!(encryption::get_encryption))
        .add(endpoint!(private_key::get_private_key))
}
