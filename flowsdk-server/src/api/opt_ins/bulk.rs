//! `POST /routers/{routerId}/opt-ins/bulk`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use flowsdk_core::admin::contact::{Import, ImportReport, RefusedRow};
use flowsdk_core::id::RouterId;
use flowsdk_core::idempotency::{Once, Outcome};
use flowsdk_core::text::Language;
use http::StatusCode;
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};

use super::sent::{RowsBody, SentRows};
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::idempotency::{IdempotencyParams, Replayed, of_caller, stored_as};
use crate::api::path::PathId;
use crate::api::query::{FromQuery, Query, QueryReader};
use crate::api::reply::Reply;
use crate::api::request;
use crate::api::state::OptIns;

/// How strictly.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code, reason = "the document is made of it")]
struct StrictParams {
    /// Imports nothing when one row is bad.
    #[param(required = false)]
    strict: bool,
}

/// Whether one bad row refuses all.
pub(super) struct Strict(bool);

impl FromQuery for Strict {
    fn read(query: &mut QueryReader) -> Self {
        Self(query.flag("strict"))
    }
}

/// A row that was left out.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = RefusedOptInRow)]
struct RefusedView {
    /// Its place in `rows`, from 0, as in the `rows[0]` of `details`; the head of a table does not count.
    row: usize,
    /// Of a table, the line of the file on which the row begins, from 1; the head is on one, too. Null of JSON.
    #[schema(required = true, minimum = 1)]
    line: Option<usize>,
    #[schema(example = "phoneNumber")]
    field: &'static str,
    /// For people, in the language of `Accept-Language`.
    reason: String,
}

/// The result of an import.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OptInImport)]
pub(super) struct ImportView {
    /// Rows that were sent.
    total: usize,
    /// Records that were appended.
    imported: usize,
    /// Contacts that were created for them.
    created_contacts: usize,
    /// Every row that was left out, in order.
    refused: Vec<RefusedView>,
}

impl ImportView {
    fn of(report: ImportReport) -> Self {
        let (_, language) = request::facts();
        Self::in_language(report, language)
    }

    fn in_language(report: ImportReport, language: Language) -> Self {
        let refused = |refused: RefusedRow| RefusedView {
            row: refused.row,
            line: refused.line,
            field: refused.field,
            reason: refused.reason.into_language(language).into_owned(),
        };
        Self {
            total: report.total,
            imported: report.imported,
            created_contacts: report.created_contacts,
            refused: report.refused.into_iter().map(refused).collect(),
        }
    }
}

/// Import opt-ins
///
/// Up to 10,000 rows and 32 MiB, as JSON or as a table (`text/csv`; commas, semicolons or tabs; UTF-8, UTF-16 with a byte
/// order mark, or the `charset`, ISO-8859-1 or Windows-1252). The good rows are appended in one transaction,
/// with `source` `import`; the others are listed. Of several rows of one contact and moment the last counts.
#[utoipa::path(
    post, path = "/routers/{routerId}/opt-ins/bulk", tag = "contacts",
    params(("routerId" = RouterId, Path, description = "The router"), StrictParams, IdempotencyParams),
    request_body(content((RowsBody = "application/json"), (String = "text/csv"))),
    responses(
        (status = 200, description = "The result of the import", body = ImportView),
        (status = 409, description = "`idempotency_conflict`"),
        (status = 422, description = "`import_refused`: with `strict`, and the rows in `details`, the first 100: `rows[0]` \
            is the first, and of a table the text tells the line of the file"),
    )
)]
pub(super) async fn import_opt_ins(
    can: Can<marks::Contacts, marks::Write>,
    State(opt_ins): State<Arc<OptIns>>,
    PathId(router): PathId<RouterId>,
    Query(Strict(strict)): Query<Strict>,
    SentRows { rows, keyed, place: _place }: SentRows,
) -> Result<Response, ApiError> {
    let router = can.admit(router)?;
    let import = Import { rows, strict };
    let once = of_caller(keyed, &can.caller).map(|request| Once {
        request,
        answer: |report: &ImportReport| stored_as(StatusCode::OK, &ImportView::of(report.clone())),
    });
    Ok(match opt_ins.import(&can.caller.author(), can.reach(), &router, &import, once).await? {
        Outcome::Done(report) => Reply(ImportView::of(report)).into_response(),
        Outcome::Replayed(answer) => Replayed { answer, collection: "/routers" }.into_response(),
    })
}
