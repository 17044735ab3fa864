//! `/helpdesk`: what operators of the helpdesk look at.

mod board;
mod columns;
mod export_tickets;
mod monitoring;
mod period;
mod report_tickets;
mod stuck_handoffs;

use super::routes::{Routes, endpoint};

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .tag("helpdesk", "What operators of the helpdesk look at")
        .add(endpoint!(board::show_board))
        .add(endpoint!(monitoring::show_monitoring))
        .add(endpoint!(report_tickets::report_tickets))
        .add(endpoint!(export_tickets::export_tickets))
        .add(endpoint!(stuck_handoffs::list_stuck_handoffs))
}
