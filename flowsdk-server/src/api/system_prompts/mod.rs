//! `/system-prompts`: what AI agents are told.

mod create;
mod delete;
mod get;
mod list;
mod patch;

use super::routes::{Routes, endpoint};

/// Where system prompts are.
const COLLECTION: &str = "/system-prompts";

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .tag("system-prompts", "What AI agents are told, in parts")
        .add(endpoint!(list::list_system_prompts))
        .add(endpoint!(create::create_system_prompt))
        .add(endpoint!(get::get_system_prompt))
        .add(endpoint!(patch::patch_system_prompt))
        .add(endpoint!(delete::delete_system_prompt))
}
