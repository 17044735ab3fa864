//! The administrative API: one folder a resource, one file an operation; and the conventions of all of them
//! (docs/api.md).

mod access_log;
mod agent_groups;
mod agents;
mod ai_agent_routes;
mod ai_agents;
mod ai_budgets;
mod ai_prices;
mod ai_turns;
mod ai_usage;
mod appearance_page;
pub mod asyncapi;
pub mod body;
mod channel_type_mappings;
mod docs;
pub mod error;
mod event_definitions;
pub mod guard;
pub mod heavy;
mod helpdesk;
pub mod idempotency;
mod import_drafts;
mod interactive_forms;
pub mod limits;
pub mod openapi;
mod opening;
pub mod path;
pub mod query;
mod queue_distribution_rules;
mod queues;
mod quick_replies;
pub mod reply;
mod request;
mod routes;
pub mod state;
pub(crate) mod upload;

mod api_clients;
mod audit_logs;
mod auth;
mod channel_numbers;
mod chats;
mod close_reasons;
mod contact_filters;
mod contacts;
mod dead_letters;
mod dispatch;
mod flows;
mod groups;
mod guardrails;
mod integrations;
mod knowledge;
mod llm_credentials;
mod media;
mod observability;
mod opt_ins;
mod routers;
mod sessions;
mod system_prompts;
mod tags;
mod templates;
mod tickets;
mod transfer;
mod user_devices;
mod users;
mod variables;
mod webchat_channels;
mod webhooks;

pub(crate) use access_log::STRANGERS;
pub(crate) use limits::too_many;

pub use error::{ApiError, method_not_allowed, not_found};
pub use request::{Identified, Identify};
pub use state::{ApiParts, ApiState, Services};

use axum::Router;
use utoipa::openapi::OpenApi;

use routes::Routes;
pub(crate) use routes::twin;

/// The routes of the API, with its document and the page that shows it.
pub fn router(state: ApiState) -> Router {
    let (router, _) = gather(Routes::undocumented());
    router.with_state(state).merge(docs::routes())
}

/// The document of the API.
pub fn document() -> OpenApi {
    gather(Routes::documented()).1.unwrap_or_default()
}

/// The document as it is committed: indented, names in the order of the alphabet where no other order is known, so
/// that it changes only with the API.
///
/// # Errors
/// It cannot be written as JSON.
pub fn document_text() -> serde_json::Result<String> {
    serde_json::to_string_pretty(&document())
}

/// Adds the resources to an empty set of routes.
fn gather(empty: Routes) -> (Router<ApiState>, Option<OpenApi>) {
    let resources = [
        auth::routes,
        users::routes,
        groups::routes,
        api_clients::routes,
        user_devices::routes,
        audit_logs::routes,
        routers::routes,
        variables::routes,
        flows::routes,
        event_definitions::routes,
        webchat_channels::routes,
        transfer::routes,
        import_drafts::routes,
        sessions::routes,
        chats::routes,
        media::routes,
        contacts::routes,
        contact_filters::routes,
        opt_ins::routes,
        channel_numbers::routes,
        templates::routes,
        dispatch::routes,
        interactive_forms::routes,
        channel_type_mappings::routes,
        llm_credentials::routes,
        integrations::routes,
        agents::routes,
        agent_groups::routes,
        queues::routes,
        queue_distribution_rules::routes,
        quick_replies::routes,
        tags::routes,
        close_reasons::routes,
        tickets::routes,
        ai_agents::routes,
        system_prompts::routes,
        guardrails::routes,
        knowledge::routes,
        ai_agent_routes::routes,
        ai_turns::routes,
        ai_prices::routes,
        ai_usage::routes,
        ai_budgets::routes,
        webhooks::routes,
        helpdesk::routes,
        observability::routes,
        dead_letters::routes,
    ];
    let routes = resources.iter().fold(empty, |routes, add| add(routes));
    routes.list(crate::webchat::test_messages()).finish()
}

#[cfg(test)]
mod tests;
