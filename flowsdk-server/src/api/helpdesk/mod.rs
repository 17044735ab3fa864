//! `/helpdesk`: what operators of the helpdesk look at.

mod board;
mod monitoring;
mod stuck_handoffs;

use super::routes::{Routes, endpoint};

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .tag("helpdesk", "What operators of the helpdesk look at")
        .add(endpoint!(board::show_board))
        .add(endpoint!(monitoring::show_monitoring))
        .add(endpoint!(stuck_handoffs::list_stuck_handoffs))
}
