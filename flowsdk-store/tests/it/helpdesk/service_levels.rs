//! Service levels: tickets are answered and resolved in time, or people are told.

use std::sync::Arc;
use std::time::Duration;

use flowsdk_helpdesk::desk::{CloseTicket, DeskSweep, ReplyToContact, TransferTicket};
use flowsdk_helpdesk::queue::DistributionStrategy::ManualPickup;
use flowsdk_helpdesk::queue::ServiceLevel;
use flowsdk_helpdesk::ticket::{ServiceClock, Ticket};
use flowsdk_store::sql::SqlStore;
use serde_json::json;

use super::desk::Helpdesk;
use crate::conversations::world::MINUTE;
use crate::support::databases::on_every_database;

on_every_database! {
    a_ticket_is_answered_and_resolved_in_time,
    what_is_late_is_told_once,
    clocks_run_on_in_their_queue_and_start_anew_in_another,
    what_ends_by_itself_was_promised_for_nothing,
    time_stands_while_the_queue_is_closed,
    two_processes_tell_once,
}

/// An answer within 10 minutes, and a resolution within an hour; warned of at half of the time.
const LEVEL: ServiceLevel =
    ServiceLevel { first_response_minutes: Some(10), resolution_minutes: Some(60), warn_at_percent: 50 };

impl Helpdesk {
    /// A desk with a queue that promises [`LEVEL`], and one that promises nothing.
    async fn promising(store: SqlStore) -> Self {
        let desk = Self::new(store).await;
        desk.add_queue("q1", ManualPickup).await;
        desk.add_queue("q2", ManualPickup).await;
        desk.change_queue("q1", |queue| queue.service_level = Some(LEVEL)).await;
        desk
    }

    /// Lets minutes pass, and returns how many tickets were noted.
    async fn pass(&self, minutes: u32) -> usize {
        self.world.clock.advance(MINUTE * minutes);
        self.sweep.pass_time().await.expect("swept")
    }
}

/// The statuses of the promises: answer and resolution.
fn statuses(ticket: &Ticket) -> [&'static str; 2] {
    let clocks = ticket.service_clocks;
    let status = |clock: Option<ServiceClock>| clock.map_or("none", |clock| clock.status.name());
    [status(clocks.first_response), status(clocks.resolution)]
}

async fn a_ticket_is_answered_and_resolved_in_time(store: SqlStore) {
    let desk = Helpdesk::promising(store).await;
    let eva = desk.add_agent("eva", &["q1"]).await;
    let ticket = desk.hand_over("ana", "bill").await.expect("a ticket");
    assert_eq!(statuses(&ticket), ["running", "running"]);
    assert_eq!(desk.pass(4).await, 0);
    assert_eq!(desk.pass(1).await, 1);
    assert_eq!(desk.pass(0).await, 0, "it is told once");
    assert_eq!(statuses(&desk.ticket(&ticket).await), ["warned", "running"]);
    desk.desk.pick_up(desk.by(&eva), &eva).await.expect("picked up").expect("a ticket");
    for _ in 0..2 {
        desk.desk.reply(desk.by(&eva), &ticket.id, ReplyToContact::text("Olá"), None).await.expect("sent");
    }
    assert_eq!(statuses(&desk.ticket(&ticket).await), ["met", "running"]);
    assert_eq!(desk.pass(24).await, 0);
    assert_eq!(desk.pass(1).await, 1);
    let closed = desk.desk.close(desk.by(&eva), &ticket.id, CloseTicket::default()).await.expect("closed");
    assert_eq!((statuses(&closed), closed.service_next_at), (["met", "met"], None));
    assert_eq!(desk.pass(600).await, 0);
    assert_eq!(desk.heard(&eva).await, ["ticket:assigned", "ticket:service-level", "ticket:closed"]);
}

async fn what_is_late_is_told_once(store: SqlStore) {
    let desk = Helpdesk::promising(store).await;
    let eva = desk.add_agent("eva", &["q1"]).await;
    let ticket = desk.hand_over("ana", "bill").await.expect("a ticket");
    desk.desk.pick_up(desk.by(&eva), &eva).await.expect("picked up").expect("a ticket");
    assert_eq!(desk.pass(10).await, 1);
    assert_eq!(statuses(&desk.ticket(&ticket).await), ["breached", "running"]);
    // No sweep has run when it is closed too late.
    desk.world.clock.advance(MINUTE * 51);
    let closed = desk.desk.close(desk.by(&eva), &ticket.id, CloseTicket::default()).await.expect("closed");
    assert_eq!(desk.pass(0).await, 1);
    assert_eq!(desk.pass(600).await, 0);
    let closed = desk.ticket(&closed).await;
    assert_eq!(statuses(&closed), ["breached", "breached"]);
    let reached = closed.service_clocks.first_response.and_then(|clock| clock.reached_at);
    assert_eq!(reached, closed.closed_at, "whoever resolves it has seen to the contact");
    assert_eq!(desk.heard(&eva).await, ["ticket:assigned", "ticket:service-level", "ticket:closed"]);
}

async fn clocks_run_on_in_their_queue_and_start_anew_in_another(store: SqlStore) {
    let desk = Helpdesk::promising(store).await;
    let eva = desk.add_agent("eva", &["q1", "q2"]).await;
    let ivo = desk.add_agent("ivo", &["q1"]).await;
    let ticket = desk.hand_over("ana", "bill").await.expect("a ticket");
    desk.pass(10).await;
    let to_user = TransferTicket { to_user_id: Some(ivo.clone()), to_queue_id: None };
    let second = desk.desk.transfer(desk.by(&eva), &ticket.id, to_user).await.expect("transferred");
    assert_eq!(statuses(&desk.ticket(&ticket).await), ["breached", "none"]);
    assert_eq!(statuses(&second), ["none", "running"], "what was broken is broken once");
    assert_eq!(second.service_clocks.resolution, ticket.service_clocks.resolution);
    let to =
        |queue: &str| TransferTicket { to_user_id: None, to_queue_id: Some(queue.parse().expect("an id")) };
    let third = desk.desk.transfer(desk.by(&ivo), &second.id, to("q2")).await.expect("transferred");
    assert_eq!(statuses(&desk.ticket(&second).await), ["none", "none"]);
    assert_eq!((statuses(&third), third.service_next_at), (["none", "none"], None));
    let fourth = desk.desk.transfer(desk.by(&eva), &third.id, to("q1")).await.expect("transferred");
    assert_eq!(statuses(&fourth), ["running", "running"]);
    let due = fourth.service_clocks.first_response.map(|clock| clock.due_at);
    assert_eq!(due, Some(fourth.created_at + MINUTE * 10));
    // One that waits again because its agent is gone was promised the same.
    desk.change_queue("q1", |queue| queue.reassign_after_minutes = Some(1)).await;
    desk.desk.pick_up(desk.by(&eva), &eva).await.expect("picked up").expect("a ticket");
    desk.world.clock.advance(MINUTE * 2);
    assert_eq!(desk.sweep.take_back().await.expect("swept"), 1);
    let fifth = desk.open_ticket("ana").await.expect("a ticket");
    assert_eq!((&fifth.assigned_user_id, fifth.service_clocks), (&None, fourth.service_clocks));
    assert_eq!(desk.pass(3).await, 1);
}

async fn what_ends_by_itself_was_promised_for_nothing(store: SqlStore) {
    let desk = Helpdesk::promising(store).await;
    desk.change_queue("q1", |queue| queue.abandon_after_minutes = Some(3)).await;
    let ticket = desk.hand_over("ana", "bill").await.expect("a ticket");
    desk.world.clock.advance(MINUTE * 3);
    assert_eq!(desk.sweep.tick().await.expect("swept"), 1);
    let closed = desk.ticket(&ticket).await;
    assert_eq!((statuses(&closed), closed.service_next_at), (["none", "none"], None));
    assert_eq!(desk.pass(600).await, 0);
}

async fn time_stands_while_the_queue_is_closed(store: SqlStore) {
    let desk = Helpdesk::promising(store).await;
    // The shop is open for the first five minutes of every second hour.
    let now = desk.world.cx.now();
    let spans: Vec<_> = (0..24)
        .step_by(2)
        .map(|hour| {
            json!({ "days": ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"],
                "from": format!("{hour:02}:00"), "to": format!("{hour:02}:05") })
        })
        .collect();
    let hours = serde_json::from_value(json!({ "timeZone": "UTC", "spans": spans })).expect("hours");
    desk.change_queue("q1", |queue| queue.business_hours = Some(hours)).await;
    let ticket = desk.hand_over("ana", "bill").await.expect("a ticket");
    let due = ticket.service_clocks.first_response.expect("a promise").due_at;
    assert!(due.since(now) > Duration::from_hours(2), "ten minutes of it take two openings: {due}");
    assert_eq!(&due.to_iso()[14..], "05:00.000Z");
}

async fn two_processes_tell_once(store: SqlStore) {
    let desk = Helpdesk::promising(store).await;
    let eva = desk.add_agent("eva", &["q1"]).await;
    desk.change_queue("q1", |queue| queue.max_concurrent_tickets_per_agent = 20).await;
    for number in 0..12 {
        desk.hand_over(&format!("v{number}"), "bill").await.expect("a ticket");
        desk.desk.pick_up(desk.by(&eva), &eva).await.expect("picked up").expect("a ticket");
    }
    desk.world.clock.advance(MINUTE * 10);
    let other = DeskSweep::new(Arc::clone(&desk.world.store), desk.world.cx.clone());
    let (one, two) = tokio::join!(desk.sweep.pass_time(), other.pass_time());
    // Whoever loses a race tries again in the next round.
    for lost in [one, two].into_iter().filter_map(Result::err) {
        assert!(lost.is_lost_race(), "{lost}");
    }
    desk.pass(0).await;
    let heard = desk.heard(&eva).await;
    assert_eq!(heard.iter().filter(|event| *event == "ticket:service-level").count(), 12);
}
