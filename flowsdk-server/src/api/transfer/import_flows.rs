//! `POST /routers/{id}/import`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use flowsdk_auth::permission::Action;
use flowsdk_core::id::RouterId;
use flowsdk_core::idempotency::{Once, Outcome};
use flowsdk_core::transfer::{ImportReport, OnConflict, TransferFile};
use http::StatusCode;
use utoipa::IntoParams;

use super::{COLLECTION, IMPORT_LIMIT, ReportView, on_conflict, require_flows};
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::heavy::HeavyQueue;
use crate::api::idempotency::{IdempotencyParams, Idempotent, Replayed, stored_as};
use crate::api::path::PathId;
use crate::api::query::{FromQuery, Query, QueryReader};
use crate::api::reply::Reply;
use crate::api::state::Transfers;

/// What happens if a name is taken.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
#[allow(dead_code, reason = "the document is made of it")]
struct ConflictParams {
    /// What happens if the router has a flow of this name: `refuse` (the default) rejects the file, `rename` renames
    /// the imported flow, `replace` overwrites the present one. `rename` keeps the present variables. A present
    /// secret is never replaced.
    #[param(pattern = "^(refuse|rename|replace)$")]
    on_conflict: Option<String>,
}

/// The wish.
#[derive(Debug)]
pub(super) struct Wish(OnConflict);

impl FromQuery for Wish {
    fn read(query: &mut QueryReader) -> Self {
        Self(on_conflict(query, &[OnConflict::Refuse, OnConflict::Rename, OnConflict::Replace]))
    }
}

/// Import flows into a router
///
/// The flows and variables of a file of up to 32 MiB, all or nothing; its settings and channels stay in the file. The
/// answer lists the fields that are still to be filled in. Requires `flows:write` too.
#[utoipa::path(
    post, path = "/routers/{id}/import", tag = "routers",
    params(("id" = RouterId, Path, description = "The router"), ConflictParams, IdempotencyParams),
    request_body = TransferFile,
    responses(
        (status = 200, description = "The changes that were made", body = ReportView),
        (status = 409, description = "`name_taken`, `idempotency_conflict`"),
        (status = 422, description = "`import_invalid`: `details` names every error by its place"),
    )
)]
pub(super) async fn import_flows(
    can: Can<marks::Routers, marks::Write>,
    State(transfers): State<Arc<Transfers>>,
    PathId(id): PathId<RouterId>,
    Query(Wish(on_conflict)): Query<Wish>,
    queue: HeavyQueue,
    mut body: Idempotent<TransferFile, IMPORT_LIMIT, true>,
) -> Result<Response, ApiError> {
    let id = can.admit(id)?;
    require_flows(&can.caller, Action::Write)?;
    let _place = body.place();
    let (file, request) = body.of(&can.caller);
    let _turn = queue.turn().await?;
    let once = request.map(|request| Once {
        request,
        answer: |report: &ImportReport| stored_as(StatusCode::OK, &ReportView::from(report.clone())),
    });
    Ok(match transfers.import_flows(&can.caller.author(), &id, file, on_conflict, once).await? {
        Outcome::Done(report) => Reply(ReportView::from(report)).into_response(),
        Outcome::Replayed(answer) => Replayed { answer, collection: COLLECTION }.into_response(),
    })
}
