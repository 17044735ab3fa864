//! `/templates`: message templates (spec A 4.8, rulings H8, O4).
//!
//! A template is one of a phone number's business account, so `channel_numbers` guards it.

mod create;
mod delete;
mod get;
mod list;
mod patch;
mod submit;
mod sync;

use super::routes::{Routes, endpoint};

/// Where templates are.
const COLLECTION: &str = "/templates";

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .tag("templates", "Message templates")
        .add(endpoint!(list::list_templates))
        .add(endpoint!(create::create_template))
        .add(endpoint!(get::get_template))
        .add(endpoint!(patch::patch_template))
        .add(endpoint!(delete::delete_template))
        .add(endpoint!(submit::submit_template))
        .add(endpoint!(sync::sync_templates))
}
