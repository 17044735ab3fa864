//! `/webchat/channels` and the test channel (spec B 4.1, 4.4).
//!
//! Channels of the web chat are channels, so `channel_numbers` guards them.

mod create;
mod delete;
mod get;
mod list;
mod patch;
mod publish_test;
mod put_initial_flow;
mod remove_embed_secret;
mod set_embed_secret;
mod shown;
mod test_channel;

use super::routes::{Routes, endpoint};

/// Where channels are.
const COLLECTION: &str = "/webchat/channels";

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .tag("webchat", "Channels of the web chat")
        .add(endpoint!(list::list_webchat_channels))
        .add(endpoint!(create::create_webchat_channel))
        .add(endpoint!(get::get_webchat_channel))
        .add(endpoint!(patch::patch_webchat_channel))
        .add(endpoint!(delete::delete_webchat_channel))
        .add(endpoint!(set_embed_secret::set_embed_secret))
        .add(endpoint!(remove_embed_secret::remove_embed_secret))
        .add(endpoint!(put_initial_flow::put_initial_flow))
        .add(endpoint!(test_channel::get_test_channel))
        .add(endpoint!(publish_test::publish_test))
}
