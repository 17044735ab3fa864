//! `POST /routers/import`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use flowsdk_auth::permission::Action;
use flowsdk_core::idempotency::{Once, Outcome};
use flowsdk_core::router::AllRouters;
use flowsdk_core::transfer::{ImportReport, OnConflict, TransferFile};
use utoipa::IntoParams;

use super::{COLLECTION, IMPORT_LIMIT, ReportView, on_conflict, require_channels, require_flows};
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::heavy::HeavyQueue;
use crate::api::idempotency::{IdempotencyParams, Idempotent, Replayed, stored};
use crate::api::query::{FromQuery, Query, QueryReader};
use crate::api::reply::Created;
use crate::api::state::Transfers;

/// What happens if a name is taken.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
#[allow(dead_code, reason = "the document is made of it")]
struct ConflictParams {
    /// What happens if a router has this name: `refuse` (the default) rejects the file, `rename` renames the imported
    /// router.
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
/// Makes a new router of a file of up to 32 MiB, all of it or nothing. The answer lists the fields that are still to be
/// filled in. Requires `flows:write` too, and `channel_numbers:write` for a file with channels. A caller confined to
/// routers is refused, because they would not see it.
#[utoipa::path(
    post, path = "/routers/import", tag = "routers",
    params(ConflictParams, IdempotencyParams),
    request_body = TransferFile,
    responses(
        (status = 201, description = "The objects that were made", body = ReportView),
        (status = 409, description = "`name_taken`, `idempotency_conflict`"),
        (status = 422, description = "`import_invalid`: `details` names every error by its place"),
    )
)]
pub(super) async fn import_router(
    can: Can<marks::Routers, marks::Write>,
    State(transfers): State<Arc<Transfers>>,
    Query(Wish(on_conflict)): Query<Wish>,
    queue: HeavyQueue,
    mut body: Idempotent<TransferFile, IMPORT_LIMIT, true>,
) -> Result<Response, ApiError> {
    let everywhere = can.admit(AllRouters)?;
    require_flows(&can.caller, Action::Write)?;
    let _place = body.place();
    let (file, request) = body.of(&can.caller);
    require_channels(&can.caller, Action::Write, &file)?;
    let _turn = queue.turn().await?;
    let once = request.map(|request| Once {
        request,
        answer: |report: &ImportReport| stored(&ReportView::from(report.clone())),
    });
    Ok(match transfers.import_router(&can.caller.author(), everywhere, file, on_conflict, once).await? {
        Outcome::Done(report) => {
            let (id, body) = (report.router_id.to_string(), ReportView::from(report));
            Created { collection: COLLECTION, id, body }.into_response()
        }
        Outcome::Replayed(answer) => Replayed { answer, collection: COLLECTION }.into_response(),
    })
}
