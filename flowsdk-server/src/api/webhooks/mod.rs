//! `/webhooks`: who is told what of a router, and what became of it.
//!
//! A webhook is a part of its router, so `routers` guards it.

mod create;
mod delete;
mod deliveries;
mod delivery;
mod get;
mod list;
mod patch;
mod replay;
mod replay_one;
mod rotate_secret;
mod test;
mod view;

use view::WebhookWithSecret;

use super::routes::{Routes, endpoint};

/// Where webhooks are.
const COLLECTION: &str = "/webhooks";

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .tag("webhooks", "Who is told what of a router")
        .add(endpoint!(list::list_webhooks))
        .add(endpoint!(create::create_webhook))
        .add(endpoint!(get::get_webhook))
        .add(endpoint!(patch::patch_webhook))
        .add(endpoint!(delete::delete_webhook))
        .add(endpoint!(rotate_secret::rotate_webhook_secret))
        .add(endpoint!(test::test_webhook))
        .add(endpoint!(deliveries::list_webhook_deliveries))
        .add(endpoint!(delivery::get_webhook_delivery))
        .add(endpoint!(replay::replay_webhook))
        .add(endpoint!(replay_one::replay_webhook_delivery))
}
