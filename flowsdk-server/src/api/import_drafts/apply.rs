//! `POST /import-drafts/{id}/apply`.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use flowsdk_auth::permission::Action;
use flowsdk_core::transfer::draft::ImportDraftId;

use crate::api::body::LIMIT;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::{ApiState, ImportDrafts};
use crate::api::transfer::{ReportView, require_flows};
use crate::gate::Key;

/// Apply an import draft
///
/// Imports its file, all or nothing and once, if the import still does what the draft shows. Otherwise `details` names
/// every difference, and the file is to be sent again. Requires `flows:write` too.
#[utoipa::path(
    post, path = "/import-drafts/{id}/apply", tag = "import-drafts",
    params(("id" = ImportDraftId, Path, description = "The draft")),
    responses(
        (status = 200, description = "The changes that were made", body = ReportView),
        (status = 409, description = "`draft_applied`; `draft_invalid`: the check found errors; `draft_stale`: the router has changed since the check"),
    )
)]
pub(super) async fn apply_import_draft(
    can: Can<marks::Routers, marks::Write>,
    State(drafts): State<Arc<ImportDrafts>>,
    State(state): State<ApiState>,
    key: Option<Extension<Key>>,
    PathId(id): PathId<ImportDraftId>,
) -> Result<Reply<ReportView>, ApiError> {
    require_flows(&can.caller, Action::Write)?;
    let size = drafts.get(can.reach(), &id).await?.draft.size;
    // A large file takes as much memory as it did when it was sent.
    let _place = match usize::try_from(size) {
        Ok(size) if size <= LIMIT => None,
        _ => Some(state.large_bodies().enter(key.map(|Extension(key)| key)).await?),
    };
    let (_, report) = drafts.apply(&can.caller.author(), can.reach(), &id).await?;
    Ok(Reply(report.into()))
}
