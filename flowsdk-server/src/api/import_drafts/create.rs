//! `POST /import-drafts`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use flowsdk_auth::permission::Action;
use flowsdk_core::idempotency::{Once, Outcome};
use flowsdk_core::transfer::draft::{CheckedDraft, NewImportDraft};

use super::COLLECTION;
use super::view::DraftView;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::heavy::HeavyQueue;
use crate::api::idempotency::{IdempotencyParams, Idempotent, Replayed, stored};
use crate::api::reply::Created;
use crate::api::state::ImportDrafts;
use crate::api::transfer::{IMPORT_LIMIT, require_flows};

/// Create an import draft
///
/// Checks a file of up to 32 MiB against a router and keeps both for 7 days; nothing is imported. A file with errors is
/// kept, too. As with the import of flows, settings and channels stay in the file. Requires `flows:write` too.
#[utoipa::path(
    post, path = "/import-drafts", tag = "import-drafts",
    params(IdempotencyParams),
    request_body = NewImportDraft,
    responses(
        (status = 201, description = "The draft with its plan", body = DraftView),
        (status = 409, description = "`too_many_drafts`: the router has 10; `idempotency_conflict`"),
        (status = 422, description = "`router_unknown`"),
    )
)]
pub(super) async fn create_import_draft(
    can: Can<marks::Routers, marks::Write>,
    State(drafts): State<Arc<ImportDrafts>>,
    queue: HeavyQueue,
    mut body: Idempotent<NewImportDraft, IMPORT_LIMIT>,
) -> Result<Response, ApiError> {
    let _place = body.place();
    let (new, request) = body.of(&can.caller);
    let new = can.admit(new)?;
    require_flows(&can.caller, Action::Write)?;
    let _turn = queue.turn().await?;
    let once = request.map(|request| Once {
        request,
        answer: |draft: &CheckedDraft| stored(&DraftView::from(draft.clone())),
    });
    Ok(match drafts.create(&can.caller.author(), new, once).await? {
        Outcome::Done(draft) => {
            let body = DraftView::from(draft);
            Created { collection: COLLECTION, id: body.id.to_string(), body }.into_response()
        }
        Outcome::Replayed(answer) => Replayed { answer, collection: COLLECTION }.into_response(),
    })
}
