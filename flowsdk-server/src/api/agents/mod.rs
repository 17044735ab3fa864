//! `/agents`: the users who work the tickets of a router, and whether they are there (spec B 2.4).

mod create;
mod delete;
mod get;
mod heartbeat;
mod list;
mod patch;
mod set_presence;
mod set_presence_of;

use std::sync::Arc;

use flowsdk_core::fault::StorageError;
use flowsdk_helpdesk::agent::{DeskAgent, DeskAgentView, PresenceStatus};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::error::ApiError;
use super::routes::{Routes, endpoint};
use super::state::Presence;

/// Where agents are.
const COLLECTION: &str = "/agents";

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .tag("agents", "The users who work the tickets of a router, and whether they are there")
        .add(endpoint!(list::list_agents))
        .add(endpoint!(create::create_agent))
        .add(endpoint!(get::get_agent))
        .add(endpoint!(patch::patch_agent))
        .add(endpoint!(delete::delete_agent))
        .add(endpoint!(set_presence::set_own_presence))
        .add(endpoint!(set_presence_of::set_agent_presence))
        .add(endpoint!(heartbeat::renew_own_presence))
}

/// Whether the caller is at the desk.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct OwnPresence {
    /// It holds for 60 seconds.
    status: PresenceStatus,
}

/// Returns an agent with their name and presence.
async fn shown(presence: &Arc<Presence>, agent: DeskAgent) -> Result<DeskAgentView, ApiError> {
    let missing = || StorageError::Stale { entity: "agent" };
    Ok(presence.of(vec![agent]).await?.pop().ok_or_else(missing)?)
}
