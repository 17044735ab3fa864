//! `GET /import-drafts/{id}/file`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use flowsdk_auth::permission::Action;
use flowsdk_core::transfer::TransferFile;
use flowsdk_core::transfer::draft::ImportDraftId;
use http::StatusCode;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::json_bytes;
use crate::api::state::ImportDrafts;
use crate::api::transfer::require_flows;

/// Show the file of an import draft
///
/// Requires `flows:read` too.
#[utoipa::path(
    get, path = "/import-drafts/{id}/file", tag = "import-drafts",
    params(("id" = ImportDraftId, Path, description = "The draft")),
    responses((status = 200, description = "The file", body = TransferFile))
)]
pub(super) async fn get_import_draft_file(
    can: Can<marks::Routers, marks::Read>,
    State(drafts): State<Arc<ImportDrafts>>,
    PathId(id): PathId<ImportDraftId>,
) -> Result<Response, ApiError> {
    require_flows(&can.caller, Action::Read)?;
    Ok(json_bytes(StatusCode::OK, drafts.file(can.reach(), &id).await?))
}
