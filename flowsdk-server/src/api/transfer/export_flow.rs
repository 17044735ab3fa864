//! `GET /flows/{id}/export`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::FlowId;
use flowsdk_core::transfer::TransferFile;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Attachment;
use crate::api::state::Transfers;

/// Export a flow
///
/// Its draft, its published version and its variables as one file, without secrets. Flows that it leads to are named,
/// and are not in the file.
#[utoipa::path(
    get, path = "/flows/{id}/export", tag = "flows",
    params(("id" = FlowId, Path, description = "The flow")),
    responses((
        status = 200, description = "The file", body = TransferFile,
        headers(("Content-Disposition" = String, description = "`attachment`, with a name for the file")),
    ))
)]
pub(super) async fn export_flow(
    can: Can<marks::Flows, marks::Read>,
    State(transfers): State<Arc<Transfers>>,
    PathId(id): PathId<FlowId>,
) -> Result<Attachment<TransferFile>, ApiError> {
    let file = transfers.export_flow(can.reach(), &id).await?;
    let name = file.flows.first().map(|flow| flow.name.clone()).unwrap_or_default();
    Ok(Attachment { name, ending: ".flow.json", body: file })
}
