//! `/tickets`: conversations that people answer (spec B 3.2, 4.7).

mod assign;
mod bulk;
mod close;
mod get;
mod list;
mod notes;
mod offer;
mod pick_up;
mod quick_replies;
mod reply;
mod sentiment;
mod tags;
mod targets;
mod transfer;

use flowsdk_core::change::Author;
use flowsdk_helpdesk::desk::By;

use super::guard::Can;
use super::guard::marks::{Helpdesk, Write};
use super::routes::{Routes, endpoint};

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .tag("tickets", "Conversations that people answer")
        .add(endpoint!(list::list_tickets))
        .add(endpoint!(pick_up::pick_up_ticket))
        .add(endpoint!(get::get_ticket))
        .add(endpoint!(assign::assign_ticket))
        .add(endpoint!(offer::accept_ticket))
        .add(endpoint!(offer::decline_ticket))
        .add(endpoint!(reply::reply_to_ticket))
        .add(endpoint!(transfer::transfer_ticket))
        .add(endpoint!(close::close_ticket))
        .add(endpoint!(sentiment::judge_ticket_sentiment))
        .add(endpoint!(notes::list_ticket_notes))
        .add(endpoint!(notes::create_ticket_note))
        .add(endpoint!(tags::tag_ticket))
        .add(endpoint!(quick_replies::list_ticket_quick_replies))
        .add(endpoint!(targets::list_ticket_targets))
        .add(endpoint!(bulk::transfer_tickets))
        .add(endpoint!(bulk::close_tickets))
}

/// Returns who acts.
fn by<'a>(can: &'a Can<Helpdesk, Write>, author: &'a Author) -> By<'a> {
    By { author, user: can.caller.authenticated().require_user().ok(), reach: can.reach() }
}
