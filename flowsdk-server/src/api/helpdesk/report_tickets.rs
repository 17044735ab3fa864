//! `GET /helpdesk/reports/tickets`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_helpdesk::report::{TicketGrouping, TicketReport};
use utoipa::IntoParams;

use super::period::{PeriodParams, Wanted};
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::heavy::HeavyTurn;
use crate::api::query::{FromQuery, Query, QueryReader, RouterParams};
use crate::api::reply::Reply;
use crate::api::state::Reports;

/// How they are grouped.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
#[allow(dead_code, reason = "the document is made of it")]
struct GroupParams {
    /// By the day on which they were opened, by queue, by the user who has them or had them last, or by the reason of their
    /// end; absent, by day.
    #[param(required = false, pattern = "^(day|queue|agent|reason)$", example = "queue")]
    group_by: String,
}

/// The grouping that is wanted.
#[derive(Debug)]
pub(super) struct By(TicketGrouping);

impl FromQuery for By {
    fn read(query: &mut QueryReader) -> Self {
        let by = query.one_of("groupBy", &TicketGrouping::ALL, TicketGrouping::name);
        Self(by.unwrap_or(TicketGrouping::Day))
    }
}

/// Report on the tickets of a period
///
/// On the tickets of people that were opened in it, of a router, or of all within the caller's reach. Percentiles are by the
/// nearest rank.
#[utoipa::path(
    get, path = "/helpdesk/reports/tickets", tag = "helpdesk",
    params(RouterParams, PeriodParams, GroupParams),
    responses((status = 200, description = "The report", body = TicketReport))
)]
pub(super) async fn report_tickets(
    can: Can<marks::Reports, marks::Read>,
    State(reports): State<Arc<Reports>>,
    Query((Wanted(filter), By(by))): Query<(Wanted, By)>,
    _turn: HeavyTurn,
) -> Result<Reply<TicketReport>, ApiError> {
    let filter = can.admit(filter)?;
    Ok(Reply(reports.tickets(can.reach(), &filter, by).await?))
}
