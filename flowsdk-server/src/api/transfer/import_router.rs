//! `POST /routers/import`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_auth::permission::{Action, Denied, RouterScope};
use flowsdk_core::transfer::OnConflict;
use utoipa::IntoParams;

use super::{IMPORT_LIMIT, ImportFile, ReportView, on_conflict, require_flows};
use crate::api::body::Body;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::query::{FromQuery, Query, QueryReader};
use crate::api::reply::Created;
use crate::api::state::Transfers;

/// What to do when a router has the name.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
#[allow(dead_code, reason = "the document is made of it")]
struct ConflictParams {
    /// What to do when there is a router of this name: `refuse` (the default) or `rename` the one that comes.
    #[param(pattern = "^(refuse|rename)$")]
    on_conflict: Option<String>,
}

/// The wish.
#[derive(Debug)]
pub(super) struct Wish(OnConflict);

impl FromQuery for Wish {
    fn read(query: &mut QueryReader) -> Self {
        Self(on_conflict(query, &[OnConflict::Refuse, OnConflict::Rename]))
    }
}

/// Import a router
///
/// A new one of a file of up to 32 MiB, all of it or nothing. The answer says what is still to be filled in. Asks for
/// `flows:write`, too; who is confined to routers would not see it, so it is not for him.
#[utoipa::path(
    post, path = "/routers/import", tag = "routers",
    params(ConflictParams),
    request_body = ImportFile,
    responses(
        (status = 201, description = "What was made", body = ReportView),
        (status = 409, description = "`name_taken`"),
        (status = 422, description = "`import_invalid`: `details` names every error by its place"),
    )
)]
pub(super) async fn import_router(
    can: Can<marks::Routers, marks::Write>,
    State(transfers): State<Arc<Transfers>>,
    Query(Wish(on_conflict)): Query<Wish>,
    Body(ImportFile(file)): Body<ImportFile, IMPORT_LIMIT>,
) -> Result<Created<ReportView>, ApiError> {
    if can.scope != RouterScope::All {
        return Err(Denied::Router.into());
    }
    require_flows(&can.caller, Action::Write)?;
    let report = transfers.import_router(&can.caller.author(), file, on_conflict).await?;
    let id = report.router_id.to_string();
    Ok(Created { collection: "/routers", id, body: report.into() })
}
