//! `/interactive-forms`: the forms of a router (spec A 2.2). The phone channel shows them, so `channel_numbers` guards it.

mod create;
mod delete;
mod deprecate;
mod get;
mod list;
mod patch;
mod publish;

use super::routes::{Routes, endpoint};

/// Where interactive forms are.
const COLLECTION: &str = "/interactive-forms";

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .tag("interactive-forms", "Forms that conversations show; nothing is sent to the provider")
        .add(endpoint!(list::list_interactive_forms))
        .add(endpoint!(create::create_interactive_form))
        .add(endpoint!(get::get_interactive_form))
        .add(endpoint!(patch::patch_interactive_form))
        .add(endpoint!(delete::delete_interactive_form))
        .add(endpoint!(publish::publish_interactive_form))
        .add(endpoint!(deprecate::deprecate_interactive_form))
}
