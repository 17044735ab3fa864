//! Which tickets a report is about.

use flowsdk_core::time::{IsoTime, Timestamp};
use flowsdk_helpdesk::report::ReportFilter;
use utoipa::IntoParams;

use crate::api::query::{FromQuery, OfRouter, QueryReader};

/// Which period. It has at most 366 days of 24 hours.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code, reason = "the document is made of it")]
pub(super) struct PeriodParams {
    /// Tickets that were opened from this moment on; absent, 30 days before `to`.
    #[param(value_type = Option<IsoTime>)]
    from: Option<Timestamp>,
    /// Tickets that were opened before this moment; absent, now.
    #[param(value_type = Option<IsoTime>)]
    to: Option<Timestamp>,
}

/// Which tickets are wanted.
#[derive(Debug)]
pub(super) struct Wanted(pub(super) ReportFilter);

impl FromQuery for Wanted {
    fn read(query: &mut QueryReader) -> Self {
        let OfRouter(router_id) = OfRouter::read(query);
        Self(ReportFilter { router_id, from: query.time("from"), to: query.time("to") })
    }
}
