//! `GET /import-drafts/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_auth::permission::Action;
use flowsdk_core::transfer::draft::ImportDraftId;

use super::view::DraftView;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::ImportDrafts;
use crate::api::transfer::require_flows;

/// Show an import draft
///
/// With its plan, as it was when the draft was created. Requires `flows:read` too.
#[utoipa::path(
    get, path = "/import-drafts/{id}", tag = "import-drafts",
    params(("id" = ImportDraftId, Path, description = "The draft")),
    responses((status = 200, description = "The draft with its plan", body = DraftView))
)]
pub(super) async fn get_import_draft(
    can: Can<marks::Routers, marks::Read>,
    State(drafts): State<Arc<ImportDrafts>>,
    PathId(id): PathId<ImportDraftId>,
) -> Result<Reply<DraftView>, ApiError> {
    require_flows(&can.caller, Action::Read)?;
    Ok(Reply(drafts.get(can.reach(), &id).await?.into()))
}
