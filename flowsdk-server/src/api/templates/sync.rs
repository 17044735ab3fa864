//! `POST /templates/sync`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_channels::template::{SyncTemplates, SyncedTemplates};

use crate::api::body::Body;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::reply::Reply;
use crate::api::state::TemplateSync;

/// Read the message templates of a business account from the provider
///
/// Creates those that are new, and changes the others to what the provider has. Those that it has no more are `DISABLED`.
/// Drafts that were not submitted stay. The provider is asked with the access token of a number of the account in the router.
#[utoipa::path(
    post, path = "/templates/sync", tag = "templates",
    request_body = SyncTemplates,
    responses(
        (status = 200, description = "How many were created and changed", body = SyncedTemplates),
        (status = 422, description = "`router_unknown`; `no_access_token`; `provider_refused`, with the code and words of the provider"),
        (status = 502, description = "`provider_unreachable`"),
        (status = 504, description = "`provider_unanswered`"),
    )
)]
pub(super) async fn sync_templates(
    can: Can<marks::ChannelNumbers, marks::Write>,
    State(templates): State<Arc<TemplateSync>>,
    Body(wanted): Body<SyncTemplates>,
) -> Result<Reply<SyncedTemplates>, ApiError> {
    let author = can.caller.author();
    Ok(Reply(templates.sync(&author, can.admit(wanted)?).await?))
}
