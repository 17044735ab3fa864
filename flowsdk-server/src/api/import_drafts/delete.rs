//! `DELETE /import-drafts/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_auth::permission::Action;
use flowsdk_core::transfer::draft::ImportDraftId;
use http::StatusCode;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::state::ImportDrafts;
use crate::api::transfer::require_flows;

/// Delete an import draft
///
/// What was imported stays. Requires `flows:write` too.
#[utoipa::path(
    delete, path = "/import-drafts/{id}", tag = "import-drafts",
    params(("id" = ImportDraftId, Path, description = "The draft")),
    responses((status = 204, description = "Deleted"))
)]
pub(super) async fn delete_import_draft(
    can: Can<marks::Routers, marks::Write>,
    State(drafts): State<Arc<ImportDrafts>>,
    PathId(id): PathId<ImportDraftId>,
) -> Result<StatusCode, ApiError> {
    require_flows(&can.caller, Action::Write)?;
    drafts.delete(&can.caller.author(), can.reach(), &id).await?;
    Ok(StatusCode::NO_CONTENT)
}
