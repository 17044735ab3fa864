//! `GET /routers/{id}/export`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_auth::permission::Action;
use flowsdk_core::id::RouterId;
use flowsdk_core::transfer::TransferFile;

use super::{require_channels, require_flows};
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Attachment;
use crate::api::state::Transfers;

/// Export a router
///
/// Its settings, variables, flows and channels as one file, without secrets. Requires `flows:read` too, and
/// `channel_numbers:read` if the router has channels.
#[utoipa::path(
    get, path = "/routers/{id}/export", tag = "routers",
    params(("id" = RouterId, Path, description = "The router")),
    responses((
        status = 200, description = "The file", body = TransferFile,
        headers(("Content-Disposition" = String, description = "`attachment`, with a name for the file")),
    ))
)]
pub(super) async fn export_router(
    can: Can<marks::Routers, marks::Read>,
    State(transfers): State<Arc<Transfers>>,
    PathId(id): PathId<RouterId>,
) -> Result<Attachment<TransferFile>, ApiError> {
    require_flows(&can.caller, Action::Read)?;
    let id = can.admit(id)?;
    let file = transfers.export_router(&id).await?;
    require_channels(&can.caller, Action::Read, &file)?;
    let name = file.router.as_ref().map(|router| router.name.clone()).unwrap_or_default();
    Ok(Attachment { name, ending: ".router.json", body: file })
}
