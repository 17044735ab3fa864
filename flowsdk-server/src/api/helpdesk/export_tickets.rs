//! `GET /helpdesk/reports/tickets.csv`.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use flowsdk_core::fault::{BoxError, Chain, StorageError};
use flowsdk_core::store::Store;
use flowsdk_core::time::Timestamp;
use flowsdk_helpdesk::names::HasNames;
use flowsdk_helpdesk::report::{HasReports, Period, TicketRow, TicketRows};
use futures_util::stream::{self, Stream, StreamExt as _, TryStreamExt as _};
use http::header;

use super::columns;
use super::period::{PeriodParams, Wanted};
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::query::{Query, RouterParams};
use crate::api::reply::disposition;
use crate::api::state::Reports;

/// Export the tickets of a period
///
/// As a table with a row for each ticket of people that was opened in it, oldest first. The columns are the fields of a ticket,
/// then `queueName`, `assignedUserName`, `contactName`, `waitingMs`, `firstResponseMs`, `serviceMs`, the due times and the
/// statuses of its service level, its survey, and `tags`. Lists are joined by `; `. A cell that a program would take for a formula has an apostrophe in front. If a row cannot be
/// read, the connection breaks off before the end.
#[utoipa::path(
    get, path = "/helpdesk/reports/tickets.csv", tag = "helpdesk",
    params(RouterParams, PeriodParams),
    responses((status = 200, description = "The table", body = String, content_type = "text/csv"))
)]
pub(super) async fn export_tickets(
    can: Can<marks::Reports, marks::Read>,
    State(reports): State<Arc<Reports>>,
    Query(Wanted(filter)): Query<Wanted>,
) -> Result<Response, ApiError> {
    let filter = can.admit(filter)?;
    let mut rows = reports.rows(can.reach(), &filter)?;
    // What fails before the first byte is an error of its own.
    let first = rows.next_page().await?;
    let headers = [
        (header::CONTENT_TYPE, "text/csv; charset=utf-8".to_owned()),
        (header::CONTENT_DISPOSITION, disposition(&name(rows.period()), ".csv")),
        (header::CACHE_CONTROL, "no-store".to_owned()),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
    ];
    Ok((headers, Body::from_stream(table(pages(rows, first)))).into_response())
}

/// Returns the name of the file: the dates of the period in UTC.
fn name(period: Period) -> String {
    let date = |moment: Timestamp| moment.to_jiff().strftime("%Y-%m-%d").to_string();
    format!("tickets-{}-{}", date(period.begin()), date(period.end()))
}

/// Returns the first page and those behind it.
fn pages<S: Store<Tx: HasReports + HasNames>>(
    rows: TicketRows<S>,
    first: Vec<TicketRow>,
) -> impl Stream<Item = Result<Vec<TicketRow>, StorageError>> {
    stream::try_unfold((rows, Some(first)), |(mut rows, ready)| async move {
        let page = match ready {
            Some(page) => page,
            None => rows.next_page().await?,
        };
        Ok::<_, StorageError>((!page.is_empty()).then_some((page, (rows, None))))
    })
}

/// Returns the table of these pages, a part for each. Where one fails, the table breaks off.
fn table(
    pages: impl Stream<Item = Result<Vec<TicketRow>, StorageError>>,
) -> impl Stream<Item = Result<Bytes, BoxError>> {
    let rows = pages
        .inspect_err(|error| tracing::error!(error = %Chain(error), "a table of tickets breaks off"))
        .map(|page| columns::rows(&page?));
    stream::iter([columns::head()]).chain(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_table_that_breaks_off_is_no_table() {
        let gone = || Err(StorageError::Unavailable("gone".into()));
        let whole = table(stream::iter([Ok(Vec::new())]));
        let head = axum::body::to_bytes(Body::from_stream(whole), 1 << 20).await.expect("a table");
        assert!(head.starts_with(b"id,kind,routerId,") && head.ends_with(b",tags\r\n"), "{head:?}");
        let broken = table(stream::iter([Ok(Vec::new()), gone()]));
        let error = axum::body::to_bytes(Body::from_stream(broken), 1 << 20).await.expect_err("no end");
        assert!(Chain(&error).to_string().contains("storage unavailable"), "{error}");
    }
}
